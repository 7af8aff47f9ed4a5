import { describe, expect, it } from 'vitest';
import { isIpv4Mapped, socketAddress, tcpMd5Signature } from './socket-address.ts';

const hex = (value: Uint8Array): string => Buffer.from(value).toString('hex');

describe('an address structure', () => {
  it('has its port and address in network order', () => {
    expect(hex(socketAddress('10.0.0.1', 179))).toBe(
      `0200 00b3 0a000001 ${'00'.repeat(8)}`.replaceAll(' ', ''),
    );
    expect(hex(socketAddress('2001:db8::1', 179))).toBe(
      `0a00 00b3 00000000 20010db8${'00'.repeat(11)}01 00000000`.replaceAll(' ', ''),
    );
  });

  it('has the interface of a zone', () => {
    expect(hex(socketAddress('fe80::1%lo', 0)).slice(-8)).toBe('01000000');
    expect(hex(socketAddress('fe80::1%7', 0)).slice(-8)).toBe('07000000');
    expect(() => socketAddress('fe80::1%absent0', 0)).toThrow('is not an interface');
  });
});

describe('struct tcp_md5sig', () => {
  it('for an address has neither flag nor prefix length', () => {
    const signature = tcpMd5Signature(4, '10.0.0.11', 'key');
    expect(signature).toHaveLength(216);
    expect(hex(signature.subarray(0, 8))).toBe('020000000a00000b');
    expect(hex(signature.subarray(128, 140))).toBe('0000030000000000'.concat('6b657900'));
  });

  it('for a prefix has both', () => {
    const signature = tcpMd5Signature(4, '10.0.0.0/24', 'key');
    expect(hex(signature.subarray(128, 132))).toBe('01180300');
  });

  it('on an AF_INET6 socket writes IPv4 as mapped, and keeps the IPv4 length', () => {
    const signature = tcpMd5Signature(6, '10.0.0.0/24', 'key');
    expect(hex(signature.subarray(0, 24))).toBe(`0a00000000000000${'00'.repeat(10)}ffff0a000000`);
    expect(hex(signature.subarray(128, 132))).toBe('01180300');
  });

  it('without a password has a key of no length, which deletes', () => {
    expect(hex(tcpMd5Signature(6, '2001:db8::/32', undefined).subarray(128, 132))).toBe('01200000');
  });

  it('is refused for an IPv6 peer of an IPv4 socket', () => {
    expect(() => tcpMd5Signature(4, '2001:db8::1', 'key')).toThrow(RangeError);
  });
});

describe('IPv4-mapped addresses', () => {
  it.each([
    ['::ffff:10.0.0.1', true],
    ['::10.0.0.1', false],
    ['10.0.0.1', false],
    ['fe80::1%lo', false],
  ])('%s: %s', (address, expected) => {
    expect(isIpv4Mapped(address)).toBe(expected);
  });
});
