import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressBytes, addressText, ipVersion, parsePrefix, zoneOf } from './internet-address.ts';

const hex = (value: Uint8Array): string => Buffer.from(value).toString('hex');

describe('addresses', () => {
  it.each([
    ['10.100.0.1', '0a640001'],
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['2001:db8::', '20010db8000000000000000000000000'],
    ['2001:db8::1:0:0:1', '20010db8000000000001000000000001'],
    ['2001:DB8:0:0:0:0:0:1', '20010db8000000000000000000000001'],
    ['::ffff:192.0.2.1', '00000000000000000000ffffc0000201'],
    ['fe80::1%eth0', 'fe800000000000000000000000000001'],
  ])('%s is %s', (text, expected) => {
    expect(hex(addressBytes(text))).toBe(expected);
  });

  it.each([
    ['20010db8000000000001000000000001', '2001:db8::1:0:0:1'],
    ['20010db8000000010000000000000001', '2001:db8:0:1::1'],
    ['20010db8000000010001000100010001', '2001:db8:0:1:1:1:1:1'],
    ['00000000000000000000000000000000', '::'],
    ['00000000000000000000ffffc0000201', '::ffff:192.0.2.1'],
    ['0a640001', '10.100.0.1'],
  ])('%s is written %s, as RFC 5952 wants it', (octets, expected) => {
    expect(addressText(Uint8Array.from(Buffer.from(octets, 'hex')))).toBe(expected);
  });

  it.each(['', '10.0.0', '10.0.0.256', '010.0.0.1', 'example.net', '1::2::3'])('%j is none', (text) => {
    expect(() => ipVersion(text)).toThrow(RangeError);
  });

  it('keep their octets through text', () => {
    const octets = fc.oneof(
      fc.uint8Array({ minLength: 4, maxLength: 4 }),
      fc.uint8Array({ minLength: 16, maxLength: 16 }),
    );
    fc.assert(
      fc.property(octets, (value) => {
        expect(addressBytes(addressText(value))).toEqual(value);
      }),
      { seed: 1, numRuns: 2000 },
    );
  });

  it('may have a zone', () => {
    expect([zoneOf('fe80::1%eth0'), zoneOf('fe80::1')]).toEqual(['eth0', undefined]);
  });
});

describe('prefixes', () => {
  it('are an address and a length; an address alone is a host', () => {
    expect(parsePrefix('10.0.0.0/24')).toMatchObject({ version: 4, length: 24 });
    expect(parsePrefix('10.0.0.1')).toMatchObject({ version: 4, length: 32 });
    expect(parsePrefix('2001:db8::1')).toMatchObject({ version: 6, length: 128 });
  });

  it.each(['10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/', '10.0.0.0/1e1', '::/129', '/24'])(
    '%j is none',
    (text) => {
      expect(() => parsePrefix(text)).toThrow(RangeError);
    },
  );
});
