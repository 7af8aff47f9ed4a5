import { describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import { ipv4Unicast, ipv6Unicast } from '../types/family.ts';
import type { CodecContext } from './context.ts';
import { openContext } from './context.ts';
import type { DecodedUpdate } from './message.ts';
import { decodeMessage } from './message-codec.ts';

/** The table of RFC 7606, attribute by attribute: what an UPDATE with one faulty attribute does. */

const external: CodecContext = {
  ...openContext(asn(65000)),
  asn4: true,
  peerAsn: asn(65001),
  families: [ipv4Unicast, ipv6Unicast],
};
const internal: CodecContext = { ...external, isInternal: true, peerAsn: asn(65000) };

const origin = '40 01 01 00';
const asPath = '40 02 06 02 01 0000fde9';
const nextHop = '40 03 04 0a000002';
const localPref = '40 05 04 00000064';
const route = '18 0a0101';

function decode(attributes: string, context: CodecContext, nlri: string = route): DecodedUpdate {
  const field = Buffer.from(attributes.replaceAll(' ', ''), 'hex');
  const lengths = Buffer.from([0, 0, field.length >> 8, field.length & 0xff]);
  const body = Buffer.concat([lengths, field, Buffer.from(nlri.replaceAll(' ', ''), 'hex')]);
  const header = Buffer.from([...Buffer.alloc(16, 0xff), (19 + body.length) >> 8, 19 + body.length, 2]);
  const message = decodeMessage({ type: 2, bytes: Buffer.concat([header, body]) }, context);
  if (message.type !== 'UPDATE') throw new Error(`${message.type} came out`);
  return message;
}

/** All that is mandatory, with the attribute of the same code replaced by the faulty one, or the faulty one added. */
function withFault(faulty: string, context: CodecContext): string {
  const good = [origin, asPath, nextHop, ...(context.isInternal ? [localPref] : [])];
  const code = faulty.replaceAll(' ', '').slice(2, 4);
  return [...good.filter((text) => text.slice(3, 5) !== code), faulty].join(' ');
}

type Row = readonly [what: string, attribute: string, subcode: number];

const treatedAsWithdraw: readonly Row[] = [
  // RFC 7606 section 7.1
  ['ORIGIN of 0 octets', '40 01 00', 5],
  ['ORIGIN of 2 octets', '40 01 02 0000', 5],
  ['ORIGIN 3', '40 01 01 03', 6],
  ['ORIGIN 255', '40 01 01 ff', 6],
  ['ORIGIN marked optional', 'c0 01 01 00', 4],
  ['ORIGIN not marked transitive', '00 01 01 00', 4],
  // section 7.2
  ['AS_PATH with segment type 0', '40 02 06 00 01 0000fde9', 11],
  ['AS_PATH with segment type 5', '40 02 06 05 01 0000fde9', 11],
  ['AS_PATH with an empty segment', '40 02 08 02 00 02 01 0000fde9', 11],
  ['AS_PATH whose segment passes the end', '40 02 06 02 02 0000fde9', 11],
  ['AS_PATH with an octet left over', '40 02 07 02 01 0000fde9 02', 11],
  ['AS_PATH marked optional', 'c0 02 06 02 01 0000fde9', 4],
  ['AS_PATH with AS 0 (RFC 7607 section 2)', '40 02 0a 02 02 0000fde9 00000000', 11],
  ['AS_PATH with a confederation sequence (RFC 5065)', '40 02 0c 03 01 0000fde9 02 01 0000fde9', 11],
  ['AS_PATH with a confederation set', '40 02 0c 02 01 0000fde9 04 01 0000fde9', 11],
  // section 7.3
  ['NEXT_HOP of 0 octets', '40 03 00', 5],
  ['NEXT_HOP of 3 octets', '40 03 03 0a0000', 5],
  ['NEXT_HOP of 5 octets', '40 03 05 0a00000200', 5],
  ['NEXT_HOP of 16 octets', `40 03 10 ${'00'.repeat(16)}`, 5],
  // RFC 4271 section 6.3: not an address of a host
  ['NEXT_HOP 0.0.0.0', '40 03 04 00000000', 8],
  ['NEXT_HOP 127.0.0.1', '40 03 04 7f000001', 8],
  ['NEXT_HOP 224.0.0.1', '40 03 04 e0000001', 8],
  ['NEXT_HOP 255.255.255.255', '40 03 04 ffffffff', 8],
  // section 7.4
  ['MULTI_EXIT_DISC of 0 octets', '80 04 00', 5],
  ['MULTI_EXIT_DISC of 3 octets', '80 04 03 000000', 5],
  ['MULTI_EXIT_DISC of 5 octets', '80 04 05 0000000000', 5],
  ['MULTI_EXIT_DISC marked transitive', 'c0 04 04 00000000', 4],
  // section 7.8, section 7.14, RFC 8092 section 6
  ['COMMUNITIES of 0 octets', 'c0 08 00', 5],
  ['COMMUNITIES of 5 octets', 'c0 08 05 fde8000100', 5],
  ['COMMUNITIES not marked transitive', '80 08 04 fde80001', 4],
  ['EXTENDED COMMUNITIES of 0 octets', 'c0 10 00', 5],
  ['EXTENDED COMMUNITIES of 9 octets', `c0 10 09 ${'00'.repeat(9)}`, 5],
  ['EXTENDED COMMUNITIES not marked transitive', `80 10 08 ${'00'.repeat(8)}`, 4],
  ['LARGE_COMMUNITY of 0 octets', 'c0 20 00', 5],
  ['LARGE_COMMUNITY of 13 octets', `c0 20 0d ${'00'.repeat(13)}`, 5],
  ['LARGE_COMMUNITY not marked transitive', `80 20 0c ${'00'.repeat(12)}`, 4],
  // sections 7.9 and 7.10: strongest action of two, section 3 (h)
  ['ORIGINATOR_ID marked transitive', 'c0 09 04 0a000001', 4],
  ['CLUSTER_LIST marked transitive', 'c0 0a 04 0a000001', 4],
];

const treatedAsWithdrawInternally: readonly Row[] = [
  ['LOCAL_PREF of 0 octets', '40 05 00', 5],
  ['LOCAL_PREF of 3 octets', '40 05 03 000000', 5],
  ['LOCAL_PREF of 5 octets', '40 05 05 0000000000', 5],
  ['LOCAL_PREF marked optional', 'c0 05 04 00000064', 4],
  ['ORIGINATOR_ID of 3 octets', '80 09 03 0a0000', 5],
  ['ORIGINATOR_ID of 5 octets', '80 09 05 0a00000100', 5],
  ['CLUSTER_LIST of 0 octets', '80 0a 00', 5],
  ['CLUSTER_LIST of 5 octets', '80 0a 05 0a00000100', 5],
];

const discarded: readonly Row[] = [
  ['ATOMIC_AGGREGATE of 1 octet (section 7.6)', '40 06 01 00', 5],
  ['ATOMIC_AGGREGATE marked optional (section 3 (f))', 'c0 06 00', 4],
  ['AGGREGATOR of 5 octets (section 7.7)', 'c0 07 05 0000000000', 5],
  ['AGGREGATOR of 6 octets', 'c0 07 06 fde90a000001', 5],
  ['AGGREGATOR of 7 octets', 'c0 07 07 00000000000000', 5],
  ['AGGREGATOR of 9 octets', 'c0 07 09 0000fde90a00000100', 5],
  ['AGGREGATOR with AS 0 (RFC 7607 section 2)', 'c0 07 08 000000000a000001', 9],
  ['AGGREGATOR not marked transitive', '80 07 08 0000fde90a000001', 4],
  ['AS4_PATH (RFC 6793 section 4.1)', 'c0 11 06 02 01 0000fde9', 9],
  ['AS4_PATH, malformed', 'c0 11 06 00 01 0000fde9', 9],
  ['AS4_PATH, not marked transitive', '80 11 06 02 01 0000fde9', 4],
  ['AS4_AGGREGATOR', 'c0 12 08 0000fde90a000001', 9],
  ['AS4_AGGREGATOR of 7 octets', 'c0 12 07 00000000000000', 9],
  ['an unknown attribute that is optional and not transitive', '80 fd 02 abcd', 0],
];

const discardedFromExternalPeers: readonly Row[] = [
  ['LOCAL_PREF (section 7.5)', '40 05 04 00000064', 0],
  ['LOCAL_PREF of 3 octets', '40 05 03 000000', 0],
  ['ORIGINATOR_ID (section 7.9)', '80 09 04 0a000001', 0],
  ['ORIGINATOR_ID of 3 octets', '80 09 03 0a0000', 0],
  ['CLUSTER_LIST (section 7.10)', '80 0a 04 0a000001', 0],
  ['CLUSTER_LIST of 0 octets', '80 0a 00', 0],
];

describe.each([
  ['external', external, treatedAsWithdraw],
  ['internal', internal, [...treatedAsWithdraw, ...treatedAsWithdrawInternally]],
] as const)('treat-as-withdraw, %s peer', (_, context, rows) => {
  it.each(rows)('%s', (_what, attribute, subcode) => {
    const code = Number.parseInt(attribute.slice(3, 5), 16);
    const update = decode(withFault(attribute, context), context);
    expect(update.treatAsWithdraw).toBe(true);
    expect(update.faults).toMatchObject([{ code, action: 'treat-as-withdraw', subcode }]);
    expect(update.nlri).toHaveLength(1);
  });
});

describe.each([
  ['external', external, [...discarded, ...discardedFromExternalPeers]],
  ['internal', internal, discarded],
] as const)('attribute discard, %s peer', (_, context, rows) => {
  it.each(rows)('%s', (_what, attribute, subcode) => {
    const code = Number.parseInt(attribute.slice(3, 5), 16);
    const sound = decode(withFault('', context), context);
    const update = decode(withFault(attribute, context), context);
    expect(update.faults).toMatchObject([{ code, action: 'attribute-discard', subcode }]);
    expect({ ...update, faults: [] }).toEqual(sound);
    expect(sound.treatAsWithdraw).toBe(false);
  });
});

describe('mandatory attributes (RFC 7606 section 3 (d))', () => {
  it.each([
    ['ORIGIN', `${asPath} ${nextHop} ${localPref}`, 1],
    ['AS_PATH', `${origin} ${nextHop} ${localPref}`, 2],
    ['NEXT_HOP', `${origin} ${asPath} ${localPref}`, 3],
    ['LOCAL_PREF from an internal peer', `${origin} ${asPath} ${nextHop}`, 5],
  ])('treats routes without %s as withdrawn', (_, attributes, code) => {
    const update = decode(attributes, internal);
    expect(update).toMatchObject({ treatAsWithdraw: true, faults: [{ code, subcode: 3 }] });
    expect(update.faults[0]?.reason).toMatch('is missing');
  });

  it('wants no LOCAL_PREF from an external peer', () => {
    expect(decode(`${origin} ${asPath} ${nextHop}`, external)).toMatchObject({
      treatAsWithdraw: false,
      faults: [],
    });
  });

  it('reports a malformed one once, not as missing too', () => {
    expect(decode(`40 01 01 09 ${asPath} ${nextHop}`, external).faults).toHaveLength(1);
  });
});

describe('first AS (RFC 7606 section 7.2)', () => {
  const attributes = `${origin} 40 02 0a 02 02 0000fdea 0000fde9 ${nextHop}`;
  it('treats a path that does not begin with the external peer as withdrawn', () => {
    const update = decode(attributes, external);
    expect(update).toMatchObject({ treatAsWithdraw: true, faults: [{ code: 2, subcode: 11 }] });
    expect(update.faults[0]?.reason).toBe("AS_PATH begins with 65002: expected the peer's AS 65001");
  });

  it('treats an empty path of an external peer as withdrawn', () => {
    expect(decode(`${origin} 40 02 00 ${nextHop}`, external).treatAsWithdraw).toBe(true);
  });

  it('lets a route server and an internal peer begin as they like', () => {
    expect(decode(attributes, { ...external, enforceFirstAs: false }).faults).toEqual([]);
    expect(decode(`${origin} 40 02 00 ${nextHop} ${localPref}`, internal).faults).toEqual([]);
  });
});

describe('an AS_SET (RFC 9774 section 3)', () => {
  const attributes = `${origin} 40 02 10 02 01 0000fde9 01 02 0000000a 0000000b ${nextHop}`;

  it('has the path treated as withdrawn, of external and internal peers', () => {
    for (const [context, more] of [
      [external, ''],
      [internal, localPref],
    ] as const) {
      expect(decode(`${attributes} ${more}`, { ...context, acceptAsSet: false })).toMatchObject({
        treatAsWithdraw: true,
        faults: [{ code: 2, subcode: 11, reason: 'AS_PATH has an AS_SET (RFC 9774)' }],
      });
    }
  });

  it('is found behind the AS_TRANS of a peer with two octets too', () => {
    const two = { ...external, asn4: false, acceptAsSet: false };
    const as4Path = 'c0 11 10 02 01 0000fde9 01 02 00010000 00010001';
    const update = decode(`${origin} 40 02 0a 02 01 fde9 01 02 5ba0 5ba0 ${nextHop} ${as4Path}`, two);
    expect(update.treatAsWithdraw).toBe(true);
  });

  it('is taken where it is asked for', () => {
    expect(decode(attributes, { ...external, acceptAsSet: true })).toMatchObject({
      faults: [],
      attributes: { asPath: [{ type: 2 }, { type: 1, asns: [10, 11] }] },
    });
  });
});

it('takes a CLUSTER_LIST with CLUSTER_ID 0.0.0.0, which RFC 7606 section 7.10 has nothing against', () => {
  const attributes = `${origin} ${asPath} ${nextHop} ${localPref} 80 0a 08 00000000 0a000001`;
  expect(decode(attributes, internal)).toMatchObject({
    faults: [],
    attributes: { clusterList: [0, 0x0a000001] },
  });
});

describe('several faults', () => {
  it('takes the strongest action (RFC 7606 section 3 (h))', () => {
    const update = decode(`${origin} ${asPath} ${nextHop} 80 04 03 000000 40 06 01 00`, external);
    expect(update.treatAsWithdraw).toBe(true);
    expect(update.faults.map(({ action }) => action)).toEqual(['treat-as-withdraw', 'attribute-discard']);
    const worse = `${origin} 80 04 03 000000 ${asPath} ${nextHop} 80 0e 03 000101`;
    expect(() => decode(worse, external)).toThrow(expect.objectContaining({ code: 3, subcode: 9 }));
  });

  it('keeps the first of a repeated attribute (section 3 (g))', () => {
    const update = decode(
      `${origin} ${asPath} ${nextHop} 80 04 04 00000001 80 04 04 00000002 c0 63 01 aa c0 63 01 bb`,
      external,
    );
    expect(update.attributes).toMatchObject({ multiExitDisc: 1, unknown: [{ value: Uint8Array.of(0xaa) }] });
    expect(update.faults).toMatchObject([
      { code: 4, action: 'attribute-discard', subcode: 1 },
      { code: 99, action: 'attribute-discard', subcode: 1 },
    ]);
  });

  it('tells LARGE_COMMUNITY, type 32, from type 0 when it counts repetitions', () => {
    const large = 'c0 20 0c 0000fc00 00000002 0000000';
    const update = decode(`${origin} ${asPath} ${nextHop} 80 00 00 ${large}1 ${large}2`, external);
    expect(update.attributes?.largeCommunities).toMatchObject([{ localData2: 1 }]);
    expect(update.faults).toMatchObject([{ code: 0 }, { code: 32, subcode: 1 }]);
  });

  it('does not let a sound attribute stand in for a malformed first one', () => {
    expect(decode(`40 01 01 07 ${origin} ${asPath} ${nextHop}`, external)).toMatchObject({
      treatAsWithdraw: true,
      attributes: { origin: undefined },
    });
  });
});
