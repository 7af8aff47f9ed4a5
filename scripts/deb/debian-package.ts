/** Makes a Debian package (deb(5)) of a list of files, with dpkg-deb(1). */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

/** A file of the package, root's: either a copy, of a folder with what is in it too, or a text. */
export type PackageFile = { readonly path: string; readonly mode: number } & (
  | { readonly from: string }
  | { readonly content: string }
);

/** A Debian package, with the fields of deb-control(5). */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly section: string;
  readonly depends: readonly string[];
  readonly recommends: readonly string[];
  readonly summary: string;
  /** Lines of the long description, each of at most 79 characters. */
  readonly description: readonly string[];
  readonly files: readonly PackageFile[];
  /** Folders with another mode than 0755, or with nothing in them. */
  readonly folders: readonly { readonly path: string; readonly mode: number }[];
  /** Files that an administrator may change, and an upgrade leaves as they are. */
  readonly conffiles: readonly string[];
  /** `postinst` and the others of deb-postinst(5), by name. */
  readonly scripts: Readonly<Record<string, string>>;
}

/** Where it is not the default of dpkg-deb: that is 19 for zstd, which takes as long as xz. */
const LEVELS: Readonly<Record<string, number>> = { zstd: 9 };

/** Debian's name of this machine's architecture. */
function architecture(): string {
  const names: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };
  const name = names[process.arch];
  if (name === undefined)
    throw new Error(`there is no Debian package for ${process.arch}; allowed: x64, arm64`);
  return name;
}

/**
 * Writes `NAME_VERSION_ARCH.deb` into a folder. @param compression of dpkg-deb: `zstd`, `xz`, `gzip`, `none`
 * @returns its path. @throws Error with what dpkg-deb says
 */
export function buildPackage(content: DebianPackage, folder: string, compression: string): string {
  const tree = mkdtempSync(join(tmpdir(), 'bgp-lb-deb-'));
  try {
    chmodSync(tree, 0o755);
    for (const file of content.files) place(tree, file);
    for (const { path, mode } of content.folders) {
      mkdirSync(join(tree, path), { recursive: true });
      chmodSync(join(tree, path), mode);
    }
    const installed = filesIn(tree);
    writeControl(tree, content, installed);
    mkdirSync(folder, { recursive: true });
    const target = join(folder, `${content.name}_${content.version}_${architecture()}.deb`);
    const level = LEVELS[compression] === undefined ? [] : [`-z${LEVELS[compression]}`];
    execFileSync('dpkg-deb', ['--root-owner-group', `-Z${compression}`, ...level, '--build', tree, target], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return target;
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

function place(tree: string, file: PackageFile): void {
  const path = join(tree, file.path);
  makeFolder(dirname(path));
  if ('content' in file) writeFileSync(path, file.content);
  else cpSync(file.from, path, { recursive: true });
  if (!lstatSync(path).isDirectory()) {
    chmodSync(path, file.mode);
    return;
  }
  chmodSync(path, 0o755);
  for (const entry of readdirSync(path, { recursive: true, encoding: 'utf8' })) {
    const inside = join(path, entry);
    chmodSync(inside, lstatSync(inside).isDirectory() ? 0o755 : file.mode);
  }
}

/** Whatever the umask is. */
function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true });
  for (let made = path; first !== undefined && made.startsWith(first); made = dirname(made))
    chmodSync(made, 0o755);
}

function writeControl(tree: string, content: DebianPackage, installed: readonly string[]): void {
  const { name, version, section, depends, recommends, summary, description } = content;
  const control = join(tree, 'DEBIAN');
  mkdirSync(control);
  chmodSync(control, 0o755);
  const size = installed.reduce((sum, path) => sum + Math.ceil(lstatSync(join(tree, path)).size / 1024), 0);
  const fields = [
    `Package: ${name}`,
    `Version: ${version}`,
    `Architecture: ${architecture()}`,
    'Maintainer: the bgp-lb project <bgp-lb@localhost>',
    `Installed-Size: ${size}`,
    `Depends: ${depends.join(', ')}`,
    `Recommends: ${recommends.join(', ')}`,
    `Section: ${section}`,
    'Priority: optional',
    `Description: ${summary}`,
    ...description.map((line) => ` ${line}`),
  ];
  const sums = installed.map((path) => `${digest(join(tree, path))}  ${path}`);
  const texts = {
    control: fields,
    conffiles: content.conffiles,
    md5sums: sums,
  };
  for (const [file, lines] of Object.entries(texts))
    writeFileSync(join(control, file), `${lines.join('\n')}\n`);
  for (const [file, script] of Object.entries(content.scripts)) {
    writeFileSync(join(control, file), script);
    chmodSync(join(control, file), 0o755);
  }
}

/** Paths without a leading slash. */
function filesIn(tree: string): string[] {
  return readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(tree, join(entry.parentPath, entry.name)))
    .sort();
}

/** What dpkg --verify compares with; deb-md5sums(5) knows no other. */
function digest(path: string): string {
  return createHash('md5').update(readFileSync(path)).digest('hex');
}
