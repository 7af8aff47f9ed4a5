/**
 * Makes the npm packages of @bgp-lb/protocol and @bgp-lb/linux: `node scripts/npm-package.ts [FOLDER]`, default dist/npm. Prints the
 * paths of their tarballs, which `npm publish` takes. In the repository the packages are their TypeScript sources, which Node.js
 * reads everywhere but below node_modules; what is published is JavaScript and declarations.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Those that are of use alone. */
export const packages: readonly PackageName[] = ['protocol', 'linux'];
export type PackageName = 'protocol' | 'linux';
/** The folder of the compiled files within the package. */
const LIBRARY = 'lib';

interface Manifest extends Readonly<Record<string, unknown>> {
  readonly exports: Readonly<Record<string, string>>;
}

/**
 * Makes a package in `folder`, in place of a former one.
 * @returns the path of the tarball
 * @throws when the compiler or npm fails, with what they say
 */
export function packPackage(name: PackageName, folder: string): string {
  const source = join(root, 'packages', name);
  const content = join(folder, name);
  rmSync(content, { recursive: true, force: true });
  mkdirSync(content, { recursive: true });
  const library = join(content, LIBRARY);
  run(process.execPath, [
    join(root, 'node_modules/typescript/bin/tsc'),
    ...['--project', join(source, 'tsconfig.package.json'), '--outDir', library],
  ]);
  for (const file of globSync('**/*.d.ts', { cwd: library })) nameDeclarations(join(library, file));
  writeFileSync(join(content, 'package.json'), `${JSON.stringify(published(source), undefined, 2)}\n`);
  cpSync(join(source, 'README.md'), join(content, 'README.md'));
  if (existsSync(join(source, 'examples'))) {
    cpSync(join(source, 'examples'), join(content, 'examples'), { recursive: true });
  }
  cpSync(join(root, 'LICENSE'), join(content, 'LICENSE'));
  const printed = run('npm', ['pack', content, '--pack-destination', folder, '--silent']);
  return join(folder, printed.trim());
}

/** The manifest for publishing: entry points that are compiled, and none that is for our own tests. */
function published(source: string): object {
  const text = readFileSync(join(source, 'package.json'), 'utf8');
  const { private: _private, scripts: _scripts, exports, ...manifest } = JSON.parse(text) as Manifest;
  const entries = Object.entries(exports).filter(([name]) => name !== './testing');
  return {
    ...manifest,
    exports: Object.fromEntries(entries.map(([name, file]) => [name, compiled(file)])),
    files: [LIBRARY, 'examples'],
  };
}

/** `./src/node/index.ts` as what the compiler makes of it. */
function compiled(file: string): { readonly types: string; readonly default: string } {
  const stem = file.replace('./src/', `./${LIBRARY}/`).replace(/\.ts$/, '');
  return { types: `${stem}.d.ts`, default: `${stem}.js` };
}

/** The compiler renames what JavaScript files import, but not what declarations do. */
function nameDeclarations(path: string): void {
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replaceAll(/(?<=(?:from |import\()['"]\.{1,2}\/[^'"]*)\.ts(?=['"])/g, '.js'));
}

function run(file: string, args: readonly string[]): string {
  // npm run tells a script of its own folder by these, which another npm would take for its settings.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  const { status, stdout, stderr, error } = spawnSync(file, args, { cwd: root, env, encoding: 'utf8' });
  if (status === 0) return stdout;
  const said = error?.message ?? `${stdout}${stderr}`.trim();
  throw new Error(`${[file, ...args].join(' ')} failed: ${said}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = resolve(process.argv[2] ?? join(root, 'dist/npm'));
  for (const name of packages) console.log(packPackage(name, folder));
}
