import { expect, it } from 'vitest';
import { formatTable } from '../output/table.ts';
import { badFirst, type Reason, reasonsTable } from './reason.ts';

const reason = (what: string, pass: boolean, sinceMs: number | null): Reason => ({
  ...{ what, pass, sinceMs },
  reason: 'so it is',
  next: pass ? '' : 'turn it on',
});

it('puts what keeps clients away first, in the order in which it came', () => {
  const all = [
    reason('a', true, 1),
    reason('b', false, null),
    reason('c', true, null),
    reason('d', false, 1),
  ];
  expect(badFirst(all).map(({ what }) => what)).toEqual(['b', 'd', 'a', 'c']);
});

it('says in a table since when, where that is known, and what changes it', () => {
  const lines = formatTable(reasonsTable([reason('gate a', false, 61_000), reason('gate b', true, null)]));
  expect(lines.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['DEPENDS ON', 'GOOD', 'FOR', 'BECAUSE', 'WHAT CHANGES IT'],
    ['gate a', 'no', '61s', 'so it is', 'turn it on'],
    ['gate b', 'yes', '-', 'so it is', '-'],
    [''],
  ]);
});
