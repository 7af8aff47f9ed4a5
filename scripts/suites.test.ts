/** A unit test needs neither root nor a kernel of its own: one that comes to need it is told to become `*.kernel.test.ts`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');
/** What makes a namespace, in the sources that a test may use. */
const makesNamespaces = /'netns'|'unshare'/;

const sources = (folder: string): string[] =>
  readdirSync(resolve(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => resolve(root, folder, name));

/** The files of ours that one imports, itself included. */
function importsOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file) || !existsSync(file)) return seen;
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  for (const [, name = ''] of text.matchAll(/from '(\.[^']+)'/g))
    importsOf(resolve(dirname(file), name), seen);
  return seen;
}

it('no unit test makes a network namespace', () => {
  const tests = ['packages', 'scripts']
    .flatMap(sources)
    .filter((file) => /(?<!\.kernel)\.test\.ts$/.test(file) && file !== import.meta.filename);
  expect(tests.length).toBeGreaterThan(200);
  const found = tests.filter((test) =>
    [...importsOf(test)].some((file) => makesNamespaces.test(readFileSync(file, 'utf8'))),
  );
  expect(found.map((file) => relative(root, file))).toEqual([]);
});
