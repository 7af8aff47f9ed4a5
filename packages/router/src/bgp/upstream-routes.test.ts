import {
  asn,
  type PathAttributes,
  parseIpAddress,
  parsePrefix,
  parseRouterId,
  pathAttributes,
  SegmentType,
  type SelectedPath,
} from '@bgp-lb/protocol';
import { describe, expect, it } from 'vitest';
import { memberAttributes } from './upstream-routes.ts';

const identity = { localAsn: asn(64512), clusterId: parseRouterId('10.0.0.10') };
const large = (globalAdministrator: number, localData1: number) => ({
  globalAdministrator,
  localData1,
  localData2: 2,
});
const extended = (...octets: number[]) => ({ bytes: Uint8Array.of(...octets) });

function member(fields: Partial<PathAttributes>): SelectedPath {
  const address = parseIpAddress('10.0.0.11');
  const from = {
    name: 'm1',
    address,
    routerId: parseRouterId('10.0.0.11'),
    asn: asn(64512),
    isInternal: true,
  };
  const attributes = pathAttributes({ origin: 0, asPath: [], nextHop: address, localPref: 100, ...fields });
  return {
    path: { prefix: parsePrefix('10.100.0.1/32'), pathId: 0, attributes, from, learnedAt: 0, isStale: false },
    reason: 'best',
    isUsed: true,
  };
}

const draining = member({
  localPref: 0,
  multiExitDisc: 7,
  communities: [0xffff0000, 64512 * 65536 + 1],
  largeCommunities: [large(64512, 1), large(64512, 2), large(64512, 9), large(65001, 2)],
  extendedCommunities: [
    extended(0x40, 4, 0xfc, 0, 0, 0, 0, 1),
    extended(0, 4, 0xfc, 0, 0, 0, 0, 1),
    extended(0, 2, 0xfc, 0, 0, 0, 0, 1),
  ],
});

describe('a member towards an upstream', () => {
  it('looks like every other one, with its own next hop, our AS in front and nothing internal on it', () => {
    expect(memberAttributes(draining, identity)).toEqual(
      pathAttributes({
        origin: 0,
        asPath: [{ type: SegmentType.AsSequence, asns: [asn(64512)] }],
        nextHop: parseIpAddress('10.0.0.11'),
        communities: [64512 * 65536 + 1],
        largeCommunities: [large(64512, 9), large(65001, 2)],
        extendedCommunities: [extended(0, 2, 0xfc, 0, 0, 0, 0, 1)],
      }),
    );
  });

  it('has no community attribute where none is left', () => {
    const { communities, largeCommunities } = memberAttributes(
      member({ communities: [0xffff0000], largeCommunities: [large(64512, 1)] }),
      identity,
    );
    expect({ communities, largeCommunities }).toEqual({
      communities: undefined,
      largeCommunities: undefined,
    });
  });
});
