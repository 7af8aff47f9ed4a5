import { describe, expect, it } from 'vitest';
import { asn, formatAsn, isPrivateAsn, isTwoOctetAsn, parseAsn } from './asn.ts';

describe('AS numbers', () => {
  // RFC 5396 section 2.
  it.each([
    ['1', 1],
    ['65535', 65535],
    ['65536', 65536],
    ['1.0', 65536],
    ['0.65526', 65526],
    ['65535.65535', 4294967295],
    ['4294967295', 4294967295],
  ])('reads %s as %d', (text, value) => {
    expect(parseAsn(text)).toBe(value);
    expect(parseAsn(formatAsn(parseAsn(text)))).toBe(value);
  });

  it.each(['', '0', '0.0', '4294967296', '65536.1', '1.65536', '1.2.3', '-1', '1e3', ' 1', 'AS1'])(
    'refuses "%s"',
    (text) => {
      expect(() => parseAsn(text)).toThrow(RangeError);
    },
  );

  it.each([0, -1, 1.5, 4294967296, Number.NaN])('refuses the number %d', (value) => {
    expect(() => asn(value)).toThrow('expected an integer from 1 to 4294967295');
  });

  it('knows the private ranges of RFC 6996', () => {
    const values = [64511, 64512, 65534, 65535, 4199999999, 4200000000, 4294967294, 4294967295];
    expect(values.map((value) => isPrivateAsn(asn(value)))).toEqual([
      false,
      true,
      true,
      false,
      false,
      true,
      true,
      false,
    ]);
  });

  it('knows what fits two octets', () => {
    expect([isTwoOctetAsn(asn(65535)), isTwoOctetAsn(asn(65536))]).toEqual([true, false]);
  });
});
