import { describe, expect, it } from 'vitest';
import { ChangeJournal } from './change-journal.ts';

interface Named {
  readonly name: string;
  version: number;
}

const named = (name: string): Named => ({ name, version: 0 });

function names(journal: ChangeJournal<Named>, version = 0): string {
  return [...journal.after(version)].map(({ name }) => name).join(' ');
}

describe('a journal of changes', () => {
  it('has each entry once, where it changed last', () => {
    const journal = new ChangeJournal<Named>();
    const [a, b, c] = [named('a'), named('b'), named('c')];
    for (const entry of [a, b, c, a]) journal.append(entry);
    expect(names(journal)).toBe('b c a');
    expect([names(journal, 2), names(journal, 3), names(journal, 4)]).toEqual(['c a', 'a', '']);
    journal.remove(c);
    expect([names(journal), journal.size, c.version]).toEqual(['b a', 2, 0]);
    journal.append(c);
    expect([names(journal, 4), journal.last]).toEqual(['c', 5]);
  });

  it('stays in order, and as long as what is in it, however often that changes', () => {
    const journal = new ChangeJournal<Named>();
    const entries = Array.from({ length: 10 }, (_, n) => named(String(n)));
    for (const entry of entries) journal.append(entry);
    for (let turn = 0; turn < 5000; turn += 1) journal.append(entries[turn % 5] as Named);
    expect(names(journal)).toBe('5 6 7 8 9 0 1 2 3 4');
    expect(names(journal, 5007)).toBe('2 3 4');
    expect(journal.slots).toBeLessThan(100);
    for (const entry of entries) journal.remove(entry);
    expect([names(journal), journal.size]).toEqual(['', 0]);
  });
});
