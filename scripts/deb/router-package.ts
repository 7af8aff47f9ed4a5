/** What the Debian package `bgp-lb-router` is made of. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  networkdDropIn,
  type RouterProgram,
  routerDrainUnit,
  routerSysctls,
  routerUnit,
} from '@bgp-lb/speaker/router-host';
import type { DebianPackage, PackageFile } from './debian-package.ts';

const HOME = '/usr/lib/bgp-lb';
const USER = 'bgp-lb';
const DOCUMENTATION = '/usr/share/doc/bgp-lb-router';

const program: RouterProgram = { command: `${HOME}/node ${HOME}/bgp-lb-router.mjs`, user: USER };

/** For people: the units start the program itself. */
const command = `#!/bin/sh
exec ${program.command} "$@"
`;

const sysusers = `u ${USER} - "bgp-lb router" /var/lib/bgp-lb -
`;

/** Its files are root's, and the router may read them. Others may not: keys of BGP sessions are beside the configuration. */
const tmpfiles = `d /etc/bgp-lb 0750 root ${USER} -
z /etc/bgp-lb/router.yaml 0640 root ${USER} -
z /etc/bgp-lb/bgp-password 0640 root ${USER} -
`;

const routeProtocols = `# Routes, rules and next hops of bgp-lb-router, as ip(8) shows them.
84	bgp-lb
`;

/**
 * The package. Node.js is in it: the one that npm brought, which the tests have run with. It is no single-file executable, as the
 * speaker's is for hosts without a package: here koffi's native part lies beside the program, root's and read-only, and nothing has
 * to be unpacked into a folder that the router may write to.
 * @param root of the checkout, with `dist` made
 * @param version of the package
 */
export function routerPackage(root: string, version: string): DebianPackage {
  const modules = join(root, 'node_modules');
  const platform = `${process.platform}-${process.arch}`;
  const node = `node-${platform}`;
  const native = ['package.json', 'index.js', platform.replace('-', '_')].map(
    (name) => `@koromix/koffi-${platform}/${name}`,
  );
  const scripts = ['postinst', 'prerm', 'postrm'] as const;
  return {
    name: 'bgp-lb-router',
    version,
    // What Node.js is linked with.
    depends: [
      'libc6 (>= 2.28)',
      'libgcc-s1',
      'libstdc++6',
      'nftables',
      'systemd (>= 249)',
      'init-system-helpers',
    ],
    recommends: ['iproute2'],
    section: 'net',
    summary: 'BGP-based load balancer for the Kubernetes control plane: router',
    description: [
      'Learns from BGP which masters serve the virtual address of a control',
      'plane, checks each by a request through it, and forwards by resilient',
      'next-hop groups of the kernel. Upstream routers hear of the address while',
      'a master serves it.',
    ],
    files: [
      copy(`${HOME}/node`, existing(join(modules, node, 'bin/node')), 0o755),
      copy(`${HOME}/bgp-lb-router.mjs`, existing(join(root, 'dist/bgp-lb-router.mjs')), 0o644),
      copy(`${HOME}/bgp-lb-router-bfd.mjs`, existing(join(root, 'dist/bgp-lb-router-bfd.mjs')), 0o644),
      ...[...loadedOfKoffi(modules), 'koffi/package.json', 'koffi/LICENSE.txt', ...native].map((name) =>
        copy(`${HOME}/node_modules/${name}`, existing(join(modules, name)), 0o644),
      ),
      text('/usr/sbin/bgp-lb-router', command, 0o755),
      text('/usr/lib/systemd/system/bgp-lb-router.service', routerUnit(program)),
      text('/usr/lib/systemd/system/bgp-lb-router-drain.service', routerDrainUnit(program)),
      text('/usr/lib/systemd/networkd.conf.d/90-bgp-lb-router.conf', networkdDropIn),
      text('/usr/lib/sysctl.d/90-bgp-lb-router.conf', routerSysctls),
      text('/usr/lib/sysusers.d/bgp-lb-router.conf', sysusers),
      text('/usr/lib/tmpfiles.d/bgp-lb-router.conf', tmpfiles),
      text('/etc/iproute2/rt_protos.d/bgp-lb.conf', routeProtocols),
      copy(`${DOCUMENTATION}/copyright`, existing(join(root, 'LICENSE')), 0o644),
      copy(`${DOCUMENTATION}/node.LICENSE`, existing(join(modules, node, 'LICENSE')), 0o644),
      copy(
        `${DOCUMENTATION}/bundled.LICENSES`,
        existing(join(root, 'dist/bgp-lb-router.mjs.LEGAL.txt')),
        0o644,
      ),
    ],
    folders: [{ path: '/etc/bgp-lb', mode: 0o750 }],
    conffiles: ['/etc/iproute2/rt_protos.d/bgp-lb.conf'],
    scripts: Object.fromEntries(
      scripts.map((name) => [name, readFileSync(join(root, 'deploy/debian/router', name), 'utf8')]),
    ),
  };
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

function copy(path: string, from: string, mode: number): PackageFile {
  return { path, from, mode };
}

function text(path: string, content: string, mode = 0o644): PackageFile {
  return { path, content, mode };
}

/** @throws Error that says what makes it */
function existing(path: string): string {
  if (existsSync(path)) return path;
  throw new Error(`${path} is missing: run npm ci, and node scripts/bundle.ts`);
}
