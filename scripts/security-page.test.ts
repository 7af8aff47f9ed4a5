import { describe, expect, it } from 'vitest';
import { files, textOf } from './pages.ts';

/** The rows of the table of attackers, as cells. */
const rows = [...textOf('SECURITY.md').matchAll(/^\| (.+) \|$/gm)]
  .map(([, row = '']) => row.split(' | '))
  .filter(([who]) => who !== 'Who' && !/^-+/.test(who ?? ''));

describe('the table of attackers in SECURITY.md', () => {
  it('names each kind of them', () => {
    const who = new Set(rows.map(([cell = '']) => /^\w+/.exec(cell)?.[0]));
    expect(who).toEqual(new Set(['stranger', 'pod', 'master', 'LB', 'operator']));
  });

  it.each(rows.map((row) => [`${row[0]}: ${row[1]}`, row] as const))(
    'has a test that is there for %s',
    (_, row) => {
      const [, , stops = '', tests = ''] = row;
      const named = [...tests.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
      for (const file of named) {
        expect(file).toMatch(/\.test\.ts$/);
        expect(files).toContain(file);
      }
      // What nothing stops has nothing to be tested.
      expect(named.length > 0).toBe(!stops.startsWith('nothing: '));
    },
  );
});
