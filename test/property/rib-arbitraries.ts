import type { Family, LargeCommunity, PathAttributes, Prefix, PrefixKey } from '@bgp-lb/protocol';
import {
  asn,
  ipv4Unicast,
  Origin,
  parseIpAddress,
  parsePrefix,
  pathAttributes,
  prefixKey,
  routerId,
  SegmentType,
} from '@bgp-lb/protocol';
import fc from 'fast-check';
import { presentOf } from '../kit/arbitraries.ts';

/** Domains are small on purpose: what matters happens when two values meet. */
const asNumber = fc.constantFrom(65001, 65002, 65003, 4200000000).map(asn);
const identifier = fc.constantFrom(1, 2, 0xc0000201).map(routerId);

const segment = plain({
  type: fc.constantFrom(SegmentType.AsSequence, SegmentType.AsSequence, SegmentType.AsSet),
  asns: fc.array(asNumber, { minLength: 1, maxLength: 3 }),
});

const largeCommunity: fc.Arbitrary<LargeCommunity> = plain({
  globalAdministrator: fc.constantFrom(1, 64512),
  localData1: fc.constantFrom(0, 1),
  localData2: fc.constantFrom(0, 0xffffffff),
});

const extendedCommunity = fc
  .constantFrom([0, 2, 0, 0, 0, 0, 0, 1], [0, 2, 0, 0, 0, 0, 1, 0], [0x40, 4, 0, 0, 0, 0, 0, 0])
  .map((octets) => ({ bytes: Uint8Array.from(octets) }));

/** Records are made as literals are, so that deep equality does not see how they were made. */
function plain<T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record(model, { noNullPrototype: true });
}

function optional<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined });
}

/** Attributes as an internal peer may send them with a route of the family. */
export function attributesOf(family: Family): fc.Arbitrary<PathAttributes> {
  const hops = family === ipv4Unicast ? ['10.0.0.1', '10.0.0.2'] : ['2001:db8::1', '2001:db8::2'];
  return plain({
    origin: fc.constantFrom(Origin.Igp, Origin.Egp, Origin.Incomplete),
    asPath: fc.array(segment, { maxLength: 2 }),
    nextHop: fc.constantFrom(...hops).map(parseIpAddress),
    multiExitDisc: optional(fc.constantFrom(0, 1, 2)),
    localPref: fc.constantFrom(0, 100, 200),
    atomicAggregate: optional(fc.constant(true as const)),
    aggregator: optional(
      plain({ asn: asNumber, address: fc.constantFrom('1.1.1.1', '2.2.2.2').map(parseIpAddress) }),
    ),
    communities: optional(fc.array(fc.constantFrom(1, 2, 0xffff0000), { minLength: 1, maxLength: 4 })),
    originatorId: optional(identifier),
    clusterList: optional(fc.array(identifier, { minLength: 1, maxLength: 2 })),
    extendedCommunities: optional(fc.array(extendedCommunity, { minLength: 1, maxLength: 3 })),
    largeCommunities: optional(fc.array(largeCommunity, { minLength: 1, maxLength: 3 })),
    unknown: fc.constantFrom(
      [],
      [{ code: 99, flags: 0xe0, value: Uint8Array.of(1, 2) }],
      [{ code: 99, flags: 0xe0, value: Uint8Array.of(1, 2, 3) }],
    ),
    partial: fc.subarray([7, 8, 16, 32]),
  }).map(({ partial, ...fields }) => pathAttributes({ ...fields, partial: presentOf(partial, fields) }));
}

const ipv4Prefixes = ['0.0.0.0/0', '10.0.0.0/8', '10.1.0.0/16', '10.1.2.0/24', '10.1.2.3/32'].map(
  parsePrefix,
);
const ipv6Prefixes = ['::/0', '2001:db8::/32', '2001:db8:1::/48', '2001:db8::1/128'].map(parsePrefix);

export function prefixOf(family: Family): fc.Arbitrary<Prefix> {
  return fc.constantFrom(...(family === ipv4Unicast ? ipv4Prefixes : ipv6Prefixes));
}

/** Identity of a route in the model of a test, told apart from the library's own keys. */
export function modelKey(prefix: Prefix, pathId: number): string {
  const key: PrefixKey = prefixKey(prefix);
  return `${prefix.family.name} ${JSON.stringify(key)} ${pathId}`;
}
