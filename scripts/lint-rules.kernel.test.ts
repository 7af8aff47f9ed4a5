import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const configuration = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../biome.json'), 'utf8'),
) as object;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-lint-'));
  // Our rules, in a folder that git does not know.
  writeFileSync(join(folder, 'biome.json'), JSON.stringify({ ...configuration, vcs: { enabled: false } }));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** What lint says of a project with these files. */
function lint(files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const { stdout, stderr } = spawnSync('biome', ['lint', '--colors=off', '--max-diagnostics=200', '.'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return stdout + stderr;
}

const impure = [
  "import 'node:net';\n",
  "import '../node/clock.ts';\n",
  "import '@bgp-lb/linux';\n",
  'export const now: number = Date.now();\n',
  'setTimeout(() => undefined, 1);\n',
  'export const bytes: Uint8Array = Buffer.alloc(1);\n',
  'process.exit(1);\n',
  'export const later: number = performance.now();\n',
];

describe('lint', () => {
  it.each(['types', 'wire', 'fsm', 'rib', 'bfd'])('lets the core folder %s have no I/O, no clock', (name) => {
    const path = (index: number): string => `packages/protocol/src/${name}/sample-${index}.ts`;
    const said = lint({
      ...Object.fromEntries(impure.map((text, index) => [path(index), text])),
      [path(99)]: 'export const one: number = 1;\n',
    });
    for (const index of impure.keys()) {
      expect(said).toMatch(
        new RegExp(`sample-${index}\\.ts:\\d+:\\d+ lint/style/noRestricted(Imports|Globals)`),
      );
    }
    expect(said).not.toContain('sample-99');
  });

  it.each([
    ['packages/protocol/src/node/sample.ts', '@bgp-lb/linux'],
    ['packages/linux/src/sample.ts', '@bgp-lb/protocol'],
    ['packages/daemon/src/sample.ts', '@bgp-lb/linux'],
    ['packages/daemon/src/sample.ts', '@bgp-lb/kubernetes'],
    ['packages/kubernetes/src/sample.ts', '@bgp-lb/router'],
    ['packages/kubernetes/src/sample.ts', '@bgp-lb/speaker'],
    ['packages/kubernetes/src/sample.ts', '@bgp-lb/protocol/node'],
    ['packages/controller/src/sample.ts', '@bgp-lb/router'],
    ['packages/controller/src/sample.ts', '@bgp-lb/linux'],
    ['packages/router/src/sample.ts', '@bgp-lb/speaker'],
    ['packages/router/src/sample.ts', 'koffi'],
    ['packages/speaker/src/sample.ts', '@bgp-lb/router'],
    ['packages/speaker/src/sample.ts', 'koffi'],
  ])('keeps %s from importing %s', (path, module) => {
    expect(lint({ [path]: `import '${module}';\n` })).toContain('lint/style/noRestrictedImports');
  });

  it('refuses import cycles', () => {
    const file = (other: string, own: string): string =>
      `import { ${other} } from './${other}.ts';\n\nexport const ${own}: () => unknown = () => ${other};\n`;
    expect(lint({ 'scripts/a.ts': file('b', 'a'), 'scripts/b.ts': file('a', 'b') })).toContain(
      'noImportCycles',
    );
  });

  it('refuses cycles of imports that are of types only', () => {
    const file = (other: string, own: string): string =>
      `import type { ${other.toUpperCase()} } from './${other}.ts';\n\nexport interface ${own.toUpperCase()} {\n  readonly other: ${other.toUpperCase()} | undefined;\n}\n`;
    const said = lint({
      'scripts/a.ts': file('b', 'a'),
      'scripts/b.ts': file('c', 'b'),
      'scripts/c.ts': file('a', 'c'),
    });
    expect(said).toContain('noImportCycles');
  });

  it('refuses files of more than 400 lines, tests too', () => {
    const lines = Array.from({ length: 401 }, (_, index) => `export const a${index}: number = ${index};\n`);
    expect(lint({ 'test/e2e/sample.test.ts': lines.join('') })).toContain('noExcessiveLinesPerFile');
  });
});
