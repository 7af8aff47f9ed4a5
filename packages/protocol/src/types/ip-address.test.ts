import { describe, expect, it } from 'vitest';
import {
  compareIpAddress,
  equalIpAddress,
  formatIpAddress,
  ipAddress,
  ipAddressKey,
  parseIpAddress,
} from './ip-address.ts';

describe('parseIpAddress and formatIpAddress', () => {
  // RFC 5952 section 4 and RFC 4291 section 2.2: what is read, and the one form in which it is written.
  const forms: readonly [text: string, canonical: string][] = [
    ['0.0.0.0', '0.0.0.0'],
    ['192.0.2.255', '192.0.2.255'],
    ['::', '::'],
    ['::1', '::1'],
    ['2001:db8::', '2001:db8::'],
    ['2001:0DB8:0:0:8:800:200C:417A', '2001:db8::8:800:200c:417a'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['fe80:0:0:0:0:0:0:1', 'fe80::1'],
  ];
  it.each(forms)('reads %s and writes %s', (text, canonical) => {
    const address = parseIpAddress(text);
    expect(formatIpAddress(address)).toBe(canonical);
    expect(parseIpAddress(canonical)).toEqual(address);
  });

  it.each([
    '',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '01.2.3.4',
    '1.2.3.-4',
    ' 1.2.3.4',
    '1.2.3.4 ',
    '0x1.2.3.4',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '12345::',
    'fe80::1%eth0',
    'g::',
    '1.2.3.4::',
    '::1.2.3',
    '::1.2.3.4:5',
    ':1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:',
    '10.0.0.0/8',
  ])('refuses "%s"', (text) => {
    expect(() => parseIpAddress(text)).toThrow(
      new RangeError(`IP address "${text}": expected an IPv4 or IPv6 address`),
    );
  });

  it('refuses octets that are neither 4 nor 16', () => {
    expect(() => ipAddress(new Uint8Array(5))).toThrow(RangeError);
  });
});

describe('identity and order of addresses', () => {
  it('gives equal addresses equal keys, and no IPv4 key to an IPv6 address', () => {
    expect(ipAddressKey(parseIpAddress('255.1.2.3'))).toBe(0xff010203);
    expect(ipAddressKey(parseIpAddress('2001:db8::1'))).toBe(ipAddressKey(parseIpAddress('2001:db8:0::1')));
    expect(ipAddressKey(parseIpAddress('::1.2.3.4'))).not.toBe(ipAddressKey(parseIpAddress('1.2.3.4')));
  });

  it('tells equal from different', () => {
    expect(equalIpAddress(parseIpAddress('10.0.0.1'), parseIpAddress('10.0.0.1'))).toBe(true);
    expect(equalIpAddress(parseIpAddress('10.0.0.1'), parseIpAddress('10.0.0.2'))).toBe(false);
    expect(equalIpAddress(parseIpAddress('0.0.0.0'), parseIpAddress('::'))).toBe(false);
  });

  it('orders octets as unsigned numbers, IPv4 first', () => {
    const sorted = ['10.0.0.2', '10.0.0.10', '200.0.0.1', '::', 'fe80::1'].map(parseIpAddress);
    expect(sorted.toReversed().sort(compareIpAddress)).toEqual(sorted);
  });
});
