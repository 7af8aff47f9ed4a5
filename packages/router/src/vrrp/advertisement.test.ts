import { describe, expect, it } from 'vitest';
import { parseAdvertisement } from './advertisement.ts';

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
/** From 10.9.0.1 to 10.9.0.2, TTL 255, as keepalived 2.2.7 sends it: VRRPv3, VRID 51, priority 250, 10.9.0.100. */
const overIpv4 = '45c00020 00000000 ff706720 0a090001 0a090002 3133fa01 00140000 0a090064';
const overIpv6 =
  '60000000 0018 70 ff fd090000000000000000000000000001 fd090000000000000000000000000002 3133f001 00140000 fd090000000000000000000000000100';

describe('a VRRP advertisement', () => {
  it.each([
    ['over IPv4', overIpv4, { source: '10.9.0.1', version: 3, vrid: 51, priority: 250 }],
    ['over IPv6', overIpv6, { source: 'fd09::1', version: 3, vrid: 51, priority: 240 }],
    ['of version 2', overIpv4.replace('3133fa01', '21336401'), { version: 2, vrid: 51, priority: 100 }],
    ['that gives up', overIpv4.replace('3133fa01', '31330001'), { priority: 0 }],
    [
      'behind IP options',
      overIpv4.replace('45c0', '46c0').replace('0a090002', '0a090002 01010101'),
      { vrid: 51 },
    ],
  ])('%s is read', (_what, hex, expected) => {
    expect(parseAdvertisement(bytes(hex))).toMatchObject(expected);
  });

  it.each([
    ['has come through a router', overIpv4.replace('ff70', 'fe70')],
    ['is of another protocol', overIpv4.replace('ff70', 'ff06')],
    ['is of another type', overIpv4.replace('3133', '3233')],
    ['is of another version', overIpv4.replace('3133', '4133')],
    ['has no VRID', overIpv4.replace('3133', '3100')],
    ['is cut', overIpv4.slice(0, -20)],
    ['has a header that is too short', overIpv4.replace('45c0', '41c0')],
    ['is empty', ''],
    ['is no IP', '00'],
  ])('one that %s is none', (_what, hex) => {
    expect(parseAdvertisement(bytes(hex))).toBeUndefined();
  });

  it('may be anything without an error', () => {
    for (const hex of [overIpv4, overIpv6].map((text) => text.replaceAll(' ', ''))) {
      for (let end = 0; end <= hex.length; end += 2) parseAdvertisement(bytes(hex.slice(0, end)));
    }
  });
});
