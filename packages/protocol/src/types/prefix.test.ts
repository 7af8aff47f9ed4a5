import { describe, expect, it } from 'vitest';
import { ipv4Unicast, ipv6Unicast } from './family.ts';
import { parseIpAddress } from './ip-address.ts';
import {
  comparePrefix,
  equalPrefix,
  formatPrefix,
  parsePrefix,
  prefix,
  prefixContains,
  prefixKey,
} from './prefix.ts';

describe('prefix', () => {
  it.each([
    ['10.1.2.3/0', '0.0.0.0/0'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['10.255.2.3/9', '10.128.0.0/9'],
    ['10.1.2.255/31', '10.1.2.254/31'],
    ['10.1.2.3', '10.1.2.3/32'],
    ['2001:db8:ffff::1/33', '2001:db8:8000::/33'],
    ['2001:db8::1', '2001:db8::1/128'],
    ['::/0', '::/0'],
  ])('reads %s as %s: host bits are cleared', (text, canonical) => {
    expect(formatPrefix(parsePrefix(text))).toBe(canonical);
  });

  it.each([
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/08',
    '10.0.0.0/8/8',
    '::/129',
    '10.0.0/8',
    'x/8',
  ])('refuses %s', (text) => {
    expect(() => parsePrefix(text)).toThrow(RangeError);
  });

  it('copies the octets it is given', () => {
    const octets = Uint8Array.of(10, 1, 2, 3);
    const made = prefix(ipv4Unicast, octets, 24);
    octets[0] = 11;
    expect(formatPrefix(made)).toBe('10.1.2.0/24');
  });

  it('refuses octets and lengths that do not fit the family', () => {
    expect(() => prefix(ipv6Unicast, new Uint8Array(4), 8)).toThrow('expected 16');
    expect(() => prefix(ipv4Unicast, new Uint8Array(4), 1.5)).toThrow('expected 0 to 32');
  });
});

describe('identity and order of prefixes', () => {
  it('gives each prefix a key of its own', () => {
    const texts = [
      '0.0.0.0/0',
      '0.0.0.0/32',
      '255.255.255.255/32',
      '10.0.0.0/8',
      '10.0.0.0/9',
      '::/0',
      '::/128',
    ];
    expect(new Set(texts.map((text) => prefixKey(parsePrefix(text)))).size).toBe(texts.length);
    expect(equalPrefix(parsePrefix('10.0.0.1/8'), parsePrefix('10.0.0.0/8'))).toBe(true);
    expect(equalPrefix(parsePrefix('10.0.0.0/8'), parsePrefix('10.0.0.0/9'))).toBe(false);
  });

  it('orders by family, address, then length', () => {
    const sorted = ['9.0.0.0/8', '10.0.0.0/8', '10.0.0.0/16', '200.0.0.0/8', '::/0', '2001:db8::/32'].map(
      parsePrefix,
    );
    expect(sorted.toReversed().sort(comparePrefix)).toEqual(sorted);
  });
});

describe('prefixContains', () => {
  it.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.1.2.0/23', '10.1.3.255', true],
    ['10.1.2.0/23', '10.1.4.0', false],
    ['10.0.0.1/32', '10.0.0.1', true],
    ['10.0.0.1/32', '10.0.0.0', false],
    ['0.0.0.0/0', '255.255.255.255', true],
    ['0.0.0.0/0', '::', false],
    ['2001:db8::/33', '2001:db8:8000::', false],
  ])('%s and address %s: %s', (outer, inner, expected) => {
    expect(prefixContains(parsePrefix(outer), parseIpAddress(inner))).toBe(expected);
  });

  it('holds a longer prefix and itself, not a shorter one', () => {
    const outer = parsePrefix('10.0.0.0/16');
    expect(prefixContains(outer, parsePrefix('10.0.1.0/24'))).toBe(true);
    expect(prefixContains(outer, outer)).toBe(true);
    expect(prefixContains(outer, parsePrefix('10.0.0.0/8'))).toBe(false);
  });
});
