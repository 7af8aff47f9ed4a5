import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { printable, shortValue } from './printable.ts';
import { render } from './render.ts';

const HOSTILE = 'a\u001b[2Jb\u009b31mc\u202ed\u0007';

describe('a table', () => {
  const value = [
    { name: 'm1', weight: 256, state: 'active' },
    { name: '2001:db8::13', weight: 1, state: '' },
  ];

  it('is aligned, numbers to the right, without trailing spaces', () => {
    const text = render(value, 'table', (members) => ({
      columns: ['NAME', 'WEIGHT', 'STATE'],
      rows: members.map((member) => [member.name, member.weight, member.state]),
    }));
    expect(text).toBe('NAME          WEIGHT  STATE\nm1               256  active\n2001:db8::13       1  -\n');
  });

  it('may be one of several, and may have nothing to show', () => {
    const text = render({}, 'table', () => [
      { columns: ['A'], rows: [['x']] },
      { columns: ['B'], rows: [], empty: 'no members' },
    ]);
    expect(text).toBe('A\nx\n\nno members\n');
  });

  it('is made of the value where nobody says how', () => {
    expect(render(value, 'table')).toContain('NAME          WEIGHT  STATE');
    expect(render({ asn: 1, ready: true, list: [1] }, 'table')).toBe(
      'KEY    VALUE\nasn    1\nready  yes\nlist   [1]\n',
    );
  });

  it('shows control characters of the network as escapes', () => {
    const text = render([{ text: HOSTILE }], 'table');
    expect(text).toBe('TEXT\na\\u001b[2Jb\\u009b31mc\\u202ed\\u0007\n');
  });

  it('cannot be forged by line feeds in a cell', () => {
    expect(render([{ a: 'x\ny' }], 'table').split('\n')).toHaveLength(3);
  });
});

describe('json and yaml', () => {
  it('keep the value, without a character that a terminal acts on', () => {
    const value = { text: HOSTILE, [`key${HOSTILE}`]: [1, null, true], 'text of lines': 'a\nb\u009b' };
    const json = render(value, 'json');
    const yaml = render(value, 'yaml');
    expect(JSON.parse(json)).toEqual(value);
    expect(parse(yaml)).toEqual(value);
    for (const text of [json, yaml]) expect(printable(text, { keepNewlines: true })).toBe(text);
  });

  it('end with a line feed, also for nothing', () => {
    expect(render(undefined, 'json')).toBe('null\n');
    expect(render(undefined, 'yaml')).toBe('null\n');
  });

  it('yaml repeats shared objects instead of naming them', () => {
    const shared = { a: 1 };
    expect(render({ x: shared, y: shared }, 'yaml')).toBe('x:\n  a: 1\ny:\n  a: 1\n');
  });
});

describe('shortValue', () => {
  it('is one bounded line for any value', () => {
    expect(shortValue('x'.repeat(1000))).toHaveLength(80);
    expect(shortValue({ a: [1] })).toBe('{"a":[1]}');
    expect(shortValue(undefined)).toBe('nothing');
    expect(shortValue(Number.NaN)).toBe('NaN');
    expect(shortValue(10n)).toBe('10');
  });
});
