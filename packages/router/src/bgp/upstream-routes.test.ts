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

const plain = pathAttributes({
  origin: 0,
  asPath: [{ type: SegmentType.AsSequence, asns: [asn(64512)] }],
  nextHop: parseIpAddress('10.0.0.11'),
});

describe('a member towards an upstream', () => {
  it('keeps its AS_PATH behind our AS, for loop detection, which makes it no shorter than that of one that says nothing', () => {
    const lied = [{ type: SegmentType.AsSequence, asns: [asn(65001), asn(65002)] }];
    const { asPath } = memberAttributes(member({ asPath: lied }), identity, []);
    expect(asPath).toEqual([{ type: SegmentType.AsSequence, asns: [asn(64512), asn(65001), asn(65002)] }]);
    expect(plain.asPath?.[0]?.asns).toHaveLength(1);
  });

  it('looks like every other one, with its own next hop, our AS in front and nothing of its own on it', () => {
    expect(memberAttributes(draining, identity, [])).toEqual(plain);
  });

  it('keeps the communities that are allowed', () => {
    const allowed = [64512 * 65536 + 1, 64512 * 65536 + 2, large(64512, 9)];
    expect(memberAttributes(draining, identity, allowed)).toEqual({
      ...plain,
      communities: [64512 * 65536 + 1],
      largeCommunities: [large(64512, 9)],
    });
  });

  it('never has a well-known community, allowed or not: BLACKHOLE, GRACEFUL_SHUTDOWN, NO_EXPORT and their like', () => {
    const wellKnown = [0xffff029a, 0xffff0000, 0xffffff01, 0xffffff02, 0xffff0006];
    expect(memberAttributes(member({ communities: wellKnown }), identity, wellKnown)).toEqual(plain);
  });

  it('passes on none of what a compromised master could say beside', () => {
    const made = memberAttributes(
      member({
        origin: 2,
        multiExitDisc: 0,
        atomicAggregate: true,
        aggregator: { asn: asn(65001), address: parseIpAddress('10.0.0.66') },
        extendedCommunities: [extended(0, 2, 0xfc, 0, 0, 0, 0, 1)],
        unknown: [{ flags: 0xe0, code: 255, value: Uint8Array.of(1, 2, 3) }],
        partial: [7],
      }),
      identity,
      [],
    );
    expect(made).toEqual(plain);
  });
});
