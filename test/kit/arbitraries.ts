import type {
  AfiSafi,
  Asn,
  AsPathSegment,
  Capability,
  CodecContext,
  Family,
  IpAddress,
  Message,
  MpReach,
  Nlri,
  NotificationMessage,
  OpenMessage,
  PathAttributes,
  RouteRefreshMessage,
  UpdateMessage,
} from '@bgp-lb/protocol';
import {
  asn,
  ipAddress,
  ipv4Unicast,
  ipv6Unicast,
  keepalive,
  MAX_EXTENDED_MESSAGE_LENGTH,
  MAX_MESSAGE_LENGTH,
  pathAttributes,
  prefix,
  routerId,
} from '@bgp-lb/protocol';
import fc from 'fast-check';

/** fast-check generators of BGP messages that decode to what was encoded, and of the contexts they belong to. */

/** Records are made as literals are, so that deep equality does not see how they were made. */
function plain<T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record(model, { noNullPrototype: true });
}

const u8 = fc.integer({ min: 0, max: 0xff });
const u16 = fc.integer({ min: 0, max: 0xffff });
const u32 = fc.integer({ min: 0, max: 0xffffffff });
const octets = (length: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: length, maxLength: length });
const routerIds = fc.integer({ min: 1, max: 0xffffffff }).map(routerId);

/** Small, 2-octet and 4-octet numbers alike; 23456 is left to tests that mean it. */
const asns: fc.Arbitrary<Asn> = fc
  .oneof(fc.integer({ min: 1, max: 0xffff }), fc.integer({ min: 1, max: 0xffffffff }))
  .filter((value) => value !== 23456)
  .map(asn);

/** Addresses that a host can have. */
const hostIpv4: fc.Arbitrary<IpAddress> = fc
  .tuple(fc.integer({ min: 1, max: 223 }), u8, u8, u8)
  .filter(([first]) => first !== 127)
  .map((bytes) => ipAddress(Uint8Array.from(bytes)));
const hostIpv6: fc.Arbitrary<IpAddress> = octets(14).map((rest) =>
  ipAddress(Uint8Array.of(0x20, 0x01, ...rest)),
);
const linkLocal: fc.Arbitrary<IpAddress> = octets(8).map((rest) =>
  ipAddress(Uint8Array.of(0xfe, 0x80, 0, 0, 0, 0, 0, 0, ...rest)),
);

function nlriOf(family: Family, withPathId: boolean): fc.Arbitrary<Nlri> {
  const size = family.maxPrefixLength;
  return fc
    .tuple(octets(size / 8), fc.integer({ min: 0, max: size }), u32)
    .map(([bytes, length, pathId]) => ({
      prefix: prefix(family, bytes, length),
      pathId: withPathId ? pathId : undefined,
    }));
}

function nlriList(family: Family, context: CodecContext, minLength: number): fc.Arbitrary<readonly Nlri[]> {
  return fc.array(nlriOf(family, context.addPathReceive.includes(family)), { minLength, maxLength: 20 });
}

const anyFamilies = fc.subarray([ipv4Unicast, ipv6Unicast]);

/** A session as both its ends see it: what is sent with path identifiers is received with them. */
export const contexts: fc.Arbitrary<CodecContext> = plain({
  asn4: fc.boolean(),
  isInternal: fc.boolean(),
  peerAsn: asns,
  isExtended: fc.boolean(),
  addPath: anyFamilies,
  enhancedRouteRefresh: fc.boolean(),
}).map(({ asn4, isInternal, peerAsn, isExtended, addPath, enhancedRouteRefresh }) => {
  const maxLength = isExtended ? MAX_EXTENDED_MESSAGE_LENGTH : MAX_MESSAGE_LENGTH;
  return {
    asn4,
    isInternal,
    localAsn: isInternal ? peerAsn : asn(64999),
    peerAsn,
    maxReceiveLength: maxLength,
    maxSendLength: maxLength,
    families: [ipv4Unicast, ipv6Unicast],
    addPathReceive: addPath,
    addPathSend: addPath,
    enhancedRouteRefresh,
    enforceFirstAs: false,
  };
});

/**
 * Paths that a peer with 2-octet AS numbers gives back unchanged: one sequence, or one followed by a set.
 * Where several sequences meet, RFC 6793 section 4.2.3 does not keep their borders.
 */
const asPaths: fc.Arbitrary<readonly AsPathSegment[]> = fc
  .tuple(fc.array(asns, { maxLength: 12 }), fc.array(asns, { maxLength: 4 }))
  .map(([sequence, set]) => [
    ...(sequence.length > 0 ? [{ type: 2 as const, asns: sequence }] : []),
    ...(set.length > 0 ? [{ type: 1 as const, asns: set }] : []),
  ]);

const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });
const listOf = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<readonly T[] | undefined> =>
  maybe(fc.array(arbitrary, { minLength: 1, maxLength: 6 }));

/** Codes that no codec of ours has. */
const unknownAttributes = fc.uniqueArray(
  plain({
    code: fc.oneof(fc.integer({ min: 40, max: 255 }), fc.constantFrom(11, 20, 22, 26)),
    flags: fc.constant(0xe0),
    value: fc.uint8Array({ maxLength: 300 }),
  }),
  { maxLength: 3, selector: ({ code }) => code },
);

/** Attributes of a route of `family`, with all that is mandatory in `context`. */
function attributesFor(context: CodecContext): fc.Arbitrary<PathAttributes> {
  const internal = context.isInternal;
  return plain({
    origin: fc.constantFrom(0 as const, 1 as const, 2 as const),
    asPath: asPaths,
    nextHop: hostIpv4,
    multiExitDisc: maybe(u32),
    localPref: internal ? u32 : fc.constant(undefined),
    atomicAggregate: maybe(fc.constant(true as const)),
    aggregator: maybe(plain({ asn: asns, address: hostIpv4 })),
    communities: listOf(u32),
    originatorId: internal ? maybe(routerIds) : fc.constant(undefined),
    clusterList: internal ? listOf(routerIds) : fc.constant(undefined),
    extendedCommunities: listOf(octets(8).map((bytes) => ({ bytes }))),
    largeCommunities: listOf(plain({ globalAdministrator: u32, localData1: u32, localData2: u32 })),
    unknown: unknownAttributes.map((list) => list.toSorted((a, b) => a.code - b.code)),
    partial: fc.subarray([7, 8, 16, 32]),
  }).map(({ partial, ...fields }) => pathAttributes({ ...fields, partial: presentOf(partial, fields) }));
}

/** The codes of attributes that are there: the Partial bit is that of an attribute, without one there is none. */
export function presentOf(
  codes: readonly number[],
  fields: Omit<PathAttributes, 'partial' | 'linkLocalNextHop'>,
): readonly number[] | undefined {
  const { aggregator, communities, extendedCommunities, largeCommunities } = fields;
  const present: Readonly<Record<number, unknown>> = {
    7: aggregator,
    8: communities,
    16: extendedCommunities,
    32: largeCommunities,
  };
  const kept = codes.filter((code) => present[code] !== undefined);
  return kept.length === 0 ? undefined : kept;
}

const noRoutes = {
  type: 'UPDATE',
  withdrawn: [],
  nlri: [],
  mpReach: undefined,
  mpUnreach: undefined,
} as const;

function announcements(context: CodecContext): fc.Arbitrary<UpdateMessage> {
  return fc
    .tuple(attributesFor(context), nlriList(ipv4Unicast, context, 1))
    .map(([attributes, nlri]) => ({ ...noRoutes, attributes, nlri }));
}

function withdrawals(context: CodecContext): fc.Arbitrary<UpdateMessage> {
  return nlriList(ipv4Unicast, context, 0).map((withdrawn) => ({
    ...noRoutes,
    attributes: undefined,
    withdrawn,
  }));
}

function mpReachOf(context: CodecContext): fc.Arbitrary<MpReach> {
  const ipv6 = plain({
    family: fc.constant(ipv6Unicast),
    nextHop: plain({ address: fc.oneof(hostIpv6, linkLocal), linkLocal: maybe(linkLocal) }),
    nlri: nlriList(ipv6Unicast, context, 1),
  });
  const ipv4 = plain({
    family: fc.constant(ipv4Unicast),
    nextHop: plain({ address: hostIpv4, linkLocal: fc.constant(undefined) }),
    nlri: nlriList(ipv4Unicast, context, 1),
  });
  return fc.oneof(ipv4, ipv6);
}

function mpAnnouncements(context: CodecContext): fc.Arbitrary<UpdateMessage> {
  return fc.tuple(attributesFor(context), mpReachOf(context)).map(([attributes, mpReach]) => ({
    ...noRoutes,
    mpReach,
    attributes: {
      ...attributes,
      nextHop: mpReach.nextHop.address,
      linkLocalNextHop: mpReach.nextHop.linkLocal,
    },
  }));
}

function mpWithdrawals(context: CodecContext): fc.Arbitrary<UpdateMessage> {
  return fc
    .constantFrom(ipv4Unicast, ipv6Unicast)
    .chain((family) => plain({ family: fc.constant(family), nlri: nlriList(family, context, 0) }))
    .map((mpUnreach) => ({ ...noRoutes, attributes: undefined, mpUnreach }));
}

/** Every kind of UPDATE that we may send on a session, End-of-RIB markers included. */
function updates(context: CodecContext): fc.Arbitrary<UpdateMessage> {
  return fc.oneof(
    announcements(context),
    withdrawals(context),
    mpAnnouncements(context),
    mpWithdrawals(context),
  );
}

const afiSafi: fc.Arbitrary<AfiSafi> = plain({ afi: u16, safi: u8 });

const capabilities: fc.Arbitrary<Capability> = fc.oneof(
  afiSafi.map((family) => ({ name: 'multiprotocol' as const, ...family })),
  fc.constantFrom(
    { name: 'route-refresh' as const },
    { name: 'enhanced-route-refresh' as const },
    { name: 'extended-message' as const },
  ),
  asns.map((value) => ({ name: 'four-octet-as' as const, asn: value })),
  plain({
    name: fc.constant('graceful-restart' as const),
    restarting: fc.boolean(),
    notification: fc.boolean(),
    restartTime: fc.integer({ min: 0, max: 4095 }),
    families: fc.array(plain({ afi: u16, safi: u8, forwardingPreserved: fc.boolean() }), {
      maxLength: 4,
    }),
  }),
  plain({
    name: fc.constant('add-path' as const),
    families: fc.array(
      plain({ afi: u16, safi: u8, mode: fc.constantFrom(1 as const, 2 as const, 3 as const) }),
      { maxLength: 4 },
    ),
  }),
  plain({
    name: fc.constant('bfd-authentication' as const),
    nonce: fc.uint8Array({ minLength: 16, maxLength: 16 }),
  }),
  plain({
    name: fc.constant('unknown' as const),
    code: fc.constantFrom(5, 66, 71, 73, 75, 128, 200, 255),
    value: fc.uint8Array({ maxLength: 255 }),
  }),
);

const opens: fc.Arbitrary<OpenMessage> = plain({
  type: fc.constant('OPEN' as const),
  version: fc.constant(4),
  myAs: fc.integer({ min: 1, max: 0xffff }),
  holdTime: fc.oneof(fc.constant(0), fc.integer({ min: 3, max: 0xffff })),
  bgpIdentifier: routerIds,
  capabilities: fc.array(capabilities, { maxLength: 10 }),
});

const notifications: fc.Arbitrary<NotificationMessage> = plain({
  type: fc.constant('NOTIFICATION' as const),
  code: u8,
  subcode: u8,
  data: fc.uint8Array({ maxLength: 300 }),
});

const routeRefreshes: fc.Arbitrary<RouteRefreshMessage> = plain({
  type: fc.constant('ROUTE-REFRESH' as const),
  afi: u16,
  safi: u8,
  subtype: u8,
});

/** Any message that may be sent on a session. */
export function messages(context: CodecContext): fc.Arbitrary<Message> {
  return fc.oneof(
    { weight: 6, arbitrary: updates(context) },
    { weight: 2, arbitrary: opens },
    { weight: 1, arbitrary: notifications },
    { weight: 1, arbitrary: routeRefreshes },
    { weight: 1, arbitrary: fc.constant(keepalive) },
  );
}

/** A session together with a message that belongs to it. */
export const contextAndMessage: fc.Arbitrary<readonly [CodecContext, Message]> = contexts.chain((context) =>
  messages(context).map((message) => [context, message] as const),
);

/**
 * The seed and the number of runs of a property test: FC_SEED and FC_RUNS, so that a failure can be run again and a night
 * can be spent on it. The seed is printed once per test file.
 */
export function propertyRuns(defaultRuns: number): { readonly seed: number; readonly numRuns: number } {
  return { seed, numRuns: Number(process.env['FC_RUNS'] ?? defaultRuns) };
}

const seed = Number(process.env['FC_SEED'] ?? 20260101);
process.stderr.write(`fast-check seed ${seed} (FC_SEED), runs by FC_RUNS\n`);
