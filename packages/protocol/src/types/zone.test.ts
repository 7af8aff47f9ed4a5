import { describe, expect, it } from 'vitest';
import { parseIpAddress } from './ip-address.ts';
import { canonicalScoped, formatScoped, isLinkLocal, withoutZone, zoneOf } from './zone.ts';

describe('link-local addresses (RFC 4291 section 2.5.6)', () => {
  it.each([
    ['fe80::1', true],
    ['febf:ffff::1', true],
    ['fec0::1', false],
    ['fe7f::1', false],
    ['fd00::1', false],
    ['254.128.0.1', false],
  ])('%s: %s', (text, expected) => {
    expect(isLinkLocal(parseIpAddress(text))).toBe(expected);
  });
});

describe('the text of an address with its zone (RFC 4007 section 11)', () => {
  it('is split at the first percent sign', () => {
    expect([zoneOf('fe80::1%eth0.7'), withoutZone('fe80::1%eth0.7')]).toEqual(['eth0.7', 'fe80::1']);
    expect([zoneOf('fe80::1'), withoutZone('fe80::1')]).toEqual([undefined, 'fe80::1']);
  });

  it('has one spelling', () => {
    expect(canonicalScoped('FE80:0:0::1%eth0')).toBe('fe80::1%eth0');
    expect(canonicalScoped('10.0.0.1')).toBe('10.0.0.1');
    expect(() => canonicalScoped('fe80::g%eth0')).toThrow(RangeError);
  });

  it('has a zone only where the address is link-local: any other is the same on all links', () => {
    expect(canonicalScoped('2001:DB8::1%eth0')).toBe('2001:db8::1');
    expect(formatScoped(parseIpAddress('2001:db8::1'), 'eth0')).toBe('2001:db8::1');
    expect(formatScoped(parseIpAddress('fe80::1'), 'eth0')).toBe('fe80::1%eth0');
    expect(formatScoped(parseIpAddress('fe80::1'), undefined)).toBe('fe80::1');
  });
});
