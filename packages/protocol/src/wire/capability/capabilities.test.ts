import { describe, expect, it } from 'vitest';
import { asn } from '../../types/asn.ts';
import { OverrunError } from '../errors.ts';
import { Reader } from '../reader.ts';
import { Writer } from '../writer.ts';
import { readCapabilities, writeCapability } from './capabilities.ts';
import type { Capability } from './capability.ts';

const octets = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

function read(hex: string): Capability[] {
  const capabilities: Capability[] = [];
  readCapabilities(Reader.of(octets(hex)), capabilities);
  return capabilities;
}

describe('capabilities', () => {
  const vectors: readonly [hex: string, capability: Capability][] = [
    ['01 04 0001 00 01', { name: 'multiprotocol', afi: 1, safi: 1 }],
    ['01 04 4004 00 47', { name: 'multiprotocol', afi: 16388, safi: 71 }],
    ['02 00', { name: 'route-refresh' }],
    ['06 00', { name: 'extended-message' }],
    ['46 00', { name: 'enhanced-route-refresh' }],
    ['41 04 fa56ea00', { name: 'four-octet-as', asn: asn(4200000000) }],
    // RFC 4724 section 3 with the N bit of RFC 8538, and as BIRD 2 and OpenBGPD send it: without a family.
    [
      '40 06 c078 0001 01 80',
      {
        name: 'graceful-restart',
        restarting: true,
        notification: true,
        restartTime: 120,
        families: [{ afi: 1, safi: 1, forwardingPreserved: true }],
      },
    ],
    [
      '40 02 0078',
      { name: 'graceful-restart', restarting: false, notification: false, restartTime: 120, families: [] },
    ],
    // As FRR sends it: receive for both families.
    [
      '45 08 0001 01 01 0002 01 03',
      {
        name: 'add-path',
        families: [
          { afi: 1, safi: 1, mode: 1 },
          { afi: 2, safi: 1, mode: 3 },
        ],
      },
    ],
    [
      'ef 17 6267702d6c62 05 000102030405060708090a0b0c0d0e0f',
      { name: 'bfd-authentication', nonce: octets('000102030405060708090a0b0c0d0e0f') },
    ],
    ['80 00', { name: 'unknown', code: 128, value: octets('') }],
    ['49 05 02766d0000', { name: 'unknown', code: 73, value: octets('02766d0000') }],
  ];
  it.each(vectors)('reads and writes %s', (hex, capability) => {
    expect(read(hex)).toEqual([capability]);
    const writer = new Writer();
    writeCapability(writer, capability);
    expect(writer.take()).toEqual(octets(hex));
  });

  it.each([
    ['multiprotocol of 2 octets', '01 02 0001', 1],
    ['multiprotocol of 5 octets', '01 05 0001000100', 1],
    ['route refresh with a value', '02 01 00', 2],
    ['extended message with a value', '06 01 00', 6],
    ['enhanced route refresh with a value', '46 01 00', 70],
    ['4-octet AS of 2 octets', '41 02 fde9', 65],
    ['4-octet AS of 0 octets', '41 00', 65],
    ['graceful restart of 1 octet', '40 01 00', 64],
    ['graceful restart with half a family', '40 04 0078 0001', 64],
    ["somebody else's experiment with our code", 'ef 03 010203', 239],
    [
      'BFD authentication of another Auth Type',
      'ef 17 6267702d6c62 04 000102030405060708090a0b0c0d0e0f',
      239,
    ],
    ['BFD authentication with a short nonce', 'ef 16 6267702d6c62 05 000102030405060708090a0b0c0d0e', 239],
    ['ADD-PATH of 5 octets', '45 05 0001010100', 69],
  ])('keeps a malformed one as unknown, without effect: %s', (_, hex, code) => {
    const value = octets(hex).subarray(2);
    expect(read(`${hex} 0200`)).toEqual([{ name: 'unknown', code, value }, { name: 'route-refresh' }]);
  });

  it('never reads the octets of the next capability', () => {
    // The multiprotocol value would be whole if it could reach into the route refresh that follows.
    expect(read('01 02 0001 02 00')).toEqual([
      { name: 'unknown', code: 1, value: octets('0001') },
      { name: 'route-refresh' },
    ]);
  });

  it.each(['02', '02 01', '01 04 0001 00', '41 ff fde9'])(
    'refuses a capability that passes the end: %s',
    (hex) => {
      expect(() => read(hex)).toThrow(OverrunError);
    },
  );

  it('ignores ADD-PATH tuples with another direction than 1, 2, 3 (RFC 7911 section 4)', () => {
    expect(read('45 0c 0001 01 07 0002 01 02 0001 02 00')).toEqual([
      { name: 'add-path', families: [{ afi: 2, safi: 1, mode: 2 }] },
    ]);
  });

  it('takes the same capability as often as it is sent (RFC 5492 section 4), and 40 unknown ones', () => {
    expect(read('0200 0200')).toEqual([{ name: 'route-refresh' }, { name: 'route-refresh' }]);
    expect(read('c803010203'.repeat(40))).toHaveLength(40);
  });

  it('ignores reserved bits of graceful restart', () => {
    expect(read('40 06 3078 0001 01 7f')).toMatchObject([
      {
        restarting: false,
        notification: false,
        restartTime: 120,
        families: [{ forwardingPreserved: false }],
      },
    ]);
  });

  it('refuses to send a restart time of more than 12 bits', () => {
    const capability = {
      name: 'graceful-restart',
      restarting: false,
      notification: false,
      restartTime: 4096,
      families: [],
    } as const;
    expect(() => writeCapability(new Writer(), capability)).toThrow('restart time 4096 s: allowed 0 to 4095');
  });
});
