import { describe, expect, it } from 'vitest';
import { formatTable, type Table } from './table.ts';

const table: Table = {
  columns: ['check', 'count', 'what to do'],
  rows: [
    ['neighbor tor-1', 12, 'there is no route to it: see ip route get 10.0.1.1 on this host'],
    ['x', 3, 'nothing'],
  ],
};

describe('a table', () => {
  it('has one line for each row where it is not for a terminal', () => {
    expect(formatTable(table).trimEnd().split('\n')).toHaveLength(3);
  });

  it.each([100, 60, 40])('is not wider than the terminal: %i', (width) => {
    const lines = formatTable(table, { width }).trimEnd().split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
    // Nothing is lost.
    const words = lines.join(' ').split(/ +/);
    expect(words).toEqual(
      expect.arrayContaining(['CHECK', 'WHAT', 'tor-1', '12', 'route', '10.0.1.1', 'host']),
    );
  });

  it('wraps text in its own column, below what it belongs to', () => {
    expect(formatTable(table, { width: 50 })).toBe(
      [
        'CHECK           COUNT  WHAT TO DO',
        'neighbor tor-1     12  there is no route to it:',
        '                       see ip route get 10.0.1.1',
        '                       on this host',
        'x                   3  nothing',
        '',
      ].join('\n'),
    );
  });

  it('breaks a word that is longer than its column', () => {
    const long = { columns: ['key'], rows: [['a'.repeat(45)]] };
    expect(formatTable(long, { width: 20 })).toBe(
      `KEY\n${'a'.repeat(20)}\n${'a'.repeat(20)}\n${'a'.repeat(5)}\n`,
    );
  });

  it('keeps a width in which it can be read where the terminal is too narrow', () => {
    expect(() => formatTable(table, { width: 5 })).not.toThrow();
    expect(formatTable(table, { width: 0 })).toContain('COUNT');
  });
});
