/** What the Debian packages of both daemons have in common: the program, its licences, its command, and how it is installed. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DebianPackage, PackageFile } from './debian-package.ts';

/** Debian's packages that Node.js is linked with, and those that both daemons need. */
const depends = [
  'libc6 (>= 2.28)',
  'libgcc-s1',
  'libstdc++6',
  'nftables',
  'systemd (>= 249)',
  'init-system-helpers',
] as const;

/** rt_protos.d/*.conf of iproute2: the number that our routes have. */
const routeProtocols = `# Routes, rules and next hops of bgp-lb, as ip(8) shows them.
84	bgp-lb
`;

/** What is the package's own. */
export interface DaemonPackageOptions {
  readonly name: 'bgp-lb-router' | 'bgp-lb-speaker';
  readonly version: string;
  /** Of the checkout, with `dist` made. */
  readonly root: string;
  /** The folder of the program on the host. */
  readonly home: string;
  /** Packages that this daemon alone needs. */
  readonly depends?: readonly string[];
  /** More files of dist that the bundle loads. */
  readonly programs: readonly string[];
  readonly summary: string;
  readonly description: readonly string[];
  readonly files: readonly PackageFile[];
  /** In /etc/iproute2/rt_protos.d; a file of each package, since both may be installed. */
  readonly protocolsFile: string;
  /** Of the package's scripts below deploy/debian. */
  readonly scriptFolder: string;
}

/**
 * A package. Node.js is in it: the one that npm brought, which the tests have run with. It is no single-file executable, as the
 * speaker's is for hosts without a package: here koffi's native part lies beside the program, root's and read-only, and nothing has
 * to be unpacked into a state folder.
 * @throws Error that says what makes a file that is missing
 */
export function daemonPackage(options: DaemonPackageOptions): DebianPackage {
  const { name, version, root, home, programs, summary, description, files, scriptFolder } = options;
  const protocols = `/etc/iproute2/rt_protos.d/${options.protocolsFile}`;
  return {
    name,
    version,
    depends: [...depends, ...(options.depends ?? [])],
    recommends: ['iproute2'],
    section: 'net',
    summary,
    description,
    files: [
      ...programFiles(root, name, home, programs),
      text(`/usr/sbin/${name}`, commandScript(home, name), 0o755),
      ...files,
      text(protocols, routeProtocols),
    ],
    folders: [{ path: '/etc/bgp-lb', mode: 0o750 }],
    conffiles: [protocols],
    scripts: maintainerScripts(root, scriptFolder),
  };
}

/**
 * The program below `home`, for `HOME/node HOME/NAME.mjs`, and its licences below /usr/share/doc.
 * @throws Error that says what makes a file that is missing
 */
function programFiles(
  root: string,
  name: DaemonPackageOptions['name'],
  home: string,
  programs: readonly string[],
): readonly PackageFile[] {
  const modules = join(root, 'node_modules');
  const documentation = `/usr/share/doc/${name}`;
  const platform = `${process.platform}-${process.arch}`;
  const node = `node-${platform}`;
  const native = ['package.json', 'index.js', platform.replace('-', '_')].map(
    (file) => `@koromix/koffi-${platform}/${file}`,
  );
  return [
    copy(`${home}/node`, join(modules, node, 'bin/node'), 0o755),
    ...[`${name}.mjs`, ...programs].map((file) => copy(`${home}/${file}`, join(root, 'dist', file))),
    ...[...loadedOfKoffi(modules), 'koffi/package.json', 'koffi/LICENSE.txt', ...native].map((file) =>
      copy(`${home}/node_modules/${file}`, join(modules, file)),
    ),
    copy(`${documentation}/copyright`, join(root, 'LICENSE')),
    copy(`${documentation}/node.LICENSE`, join(modules, node, 'LICENSE')),
    copy(`${documentation}/bundled.LICENSES`, join(root, `dist/${name}.mjs.LEGAL.txt`)),
  ];
}

/** A file of these lines. */
export function text(path: string, content: string, mode = 0o644): PackageFile {
  return { path, content, mode };
}

/** A file of the checkout. @throws Error that says what makes it */
function copy(path: string, from: string, mode = 0o644): PackageFile {
  return { path, from: existing(from), mode };
}

/** For people: the units start the program itself. */
function commandScript(home: string, name: string): string {
  return `#!/bin/sh
exec ${home}/node ${home}/${name}.mjs "$@"
`;
}

/** The scripts of a package, from its folder below deploy/debian. */
function maintainerScripts(root: string, folder: string): Readonly<Record<string, string>> {
  const names = ['postinst', 'prerm', 'postrm'] as const;
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(join(root, 'deploy/debian', folder, name), 'utf8')]),
  );
}

/** Of the package's programs in JavaScript only: the rest is for building its native part. */
function loadedOfKoffi(modules: string): string[] {
  const places = ['koffi', 'koffi/src/koffi', 'koffi/src/koffi/src'];
  return places.flatMap((place) =>
    readdirSync(existing(join(modules, place)))
      .filter((name) => /^[a-z]+\.c?js$/.test(name) && name !== 'cnoke.cjs')
      .map((name) => `${place}/${name}`),
  );
}

/** @throws Error that says what makes it */
function existing(path: string): string {
  if (existsSync(path)) return path;
  throw new Error(`${path} is missing: run npm ci, and node scripts/bundle.ts`);
}
