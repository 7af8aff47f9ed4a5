import { describe, expect, it } from 'vitest';
import { citationsOf, isListed, listedSections, pathsOf } from './check-rfc-citations.ts';

function cited(text: string): readonly string[] {
  return citationsOf(text).map(({ rfc, section }) => (section === undefined ? rfc : `${rfc} ${section}`));
}

describe('citationsOf', () => {
  it.each([
    ['// RFC 4271 section 9.1.2.2 (c): lowest wins', ['4271 9.1.2.2']],
    ['RFC 6286 is followed.', ['6286']],
    ['(RFC 4760 sections 3 and 4, RFC 7911 section 3)', ['4760 3', '4760 4', '7911 3']],
    ['RFC 7606 sections 3 (j), 5.3 and 7.11.', ['7606 3', '7606 5.3', '7606 7.11']],
    ['RFC 4271 section 4.2, 16 octets', ['4271 4.2']],
    ['nothing of note', []],
  ])('reads %s', (text, expected) => {
    expect(cited(text)).toEqual(expected);
  });

  it('reads on over the end of a comment line, and tells the line', () => {
    const text = '/**\n * As RFC 4271\n * section 4.3 says.\n */\n// RFC\n// 8654 section 4';
    expect(citationsOf(text)).toEqual([
      { line: 2, rfc: '4271', section: '4.3' },
      { line: 5, rfc: '8654', section: '4' },
    ]);
  });
});

describe('isListed', () => {
  const listed = listedSections(
    '| RFC | what |\n|---|---|\n| RFC 4271 section 4.3 | x, RFC 1 |\n| RFC 4271 sections 6.1 and 8 | x |\n| RFC 2385 | x |\n',
  );

  it.each([
    ['4271', '4.3', true],
    ['4271', '8.2.2', true],
    ['4271', undefined, true],
    ['4271', '6', false],
    ['4271', '4.31', false],
    ['4271', '6.2', false],
    ['2385', '4.5', true],
    ['1', undefined, false],
  ])('of RFC %s section %s is %s', (rfc, section, expected) => {
    expect(isListed({ rfc, section }, listed)).toBe(expected);
  });
});

describe('pathsOf', () => {
  it('finds the files that the document names', () => {
    expect(pathsOf('| a | `rib/decision.ts` | `test/property/rib-out.test.ts`, `x` |')).toEqual([
      'rib/decision.ts',
      'test/property/rib-out.test.ts',
    ]);
  });
});
