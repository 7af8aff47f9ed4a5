import { describe, expect, it } from 'vitest';
import { ipv4Unicast, ipv6Unicast } from '../types/family.ts';
import { parseIpAddress } from '../types/ip-address.ts';
import { parsePrefix } from '../types/prefix.ts';
import type { UpdateMessage } from '../wire/message.ts';
import { pathAttributes } from '../wire/path-attributes.ts';
import { endOfRib, isEndOfRib } from './end-of-rib.ts';

const ipv4 = { prefix: parsePrefix('192.0.2.0/24'), pathId: undefined };
const ipv6 = { prefix: parsePrefix('2001:db8::/32'), pathId: undefined };

describe('End-of-RIB', () => {
  it('is an empty UPDATE for IPv4 unicast', () => {
    const update = endOfRib(ipv4Unicast);
    expect(update).toMatchObject({ withdrawn: [], nlri: [], attributes: undefined, mpReach: undefined });
    expect(update.mpUnreach).toBeUndefined();
  });

  it('is an MP_UNREACH_NLRI of no prefix for IPv6 unicast', () => {
    expect(endOfRib(ipv6Unicast).mpUnreach).toEqual({ family: ipv6Unicast, nlri: [] });
  });

  it.each([ipv4Unicast, ipv6Unicast])('is recognised for $name', (family) => {
    expect(isEndOfRib(endOfRib(family))).toBe(family);
  });

  it('is recognised as an MP_UNREACH_NLRI of IPv4 unicast too', () => {
    expect(isEndOfRib({ ...endOfRib(ipv4Unicast), mpUnreach: { family: ipv4Unicast, nlri: [] } })).toBe(
      ipv4Unicast,
    );
  });

  it.each<[string, Partial<UpdateMessage>]>([
    ['a withdrawn route', { withdrawn: [ipv4] }],
    ['an announced route', { nlri: [ipv4], attributes: pathAttributes({}) }],
    ['path attributes alone', { attributes: pathAttributes({}) }],
    ['a prefix in MP_UNREACH_NLRI', { mpUnreach: { family: ipv6Unicast, nlri: [ipv6] } }],
    [
      'MP_REACH_NLRI beside an empty MP_UNREACH_NLRI',
      {
        mpUnreach: { family: ipv6Unicast, nlri: [] },
        mpReach: {
          family: ipv6Unicast,
          nextHop: { address: parseIpAddress('2001:db8::1'), linkLocal: undefined },
          nlri: [ipv6],
        },
      },
    ],
  ])('is not an UPDATE with %s', (_, fields) => {
    expect(isEndOfRib({ ...endOfRib(ipv4Unicast), ...fields })).toBeUndefined();
  });
});
