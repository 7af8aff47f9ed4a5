import { describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import type { Family } from '../types/family.ts';
import { ipv4Unicast, ipv6Unicast } from '../types/family.ts';
import { parseIpAddress } from '../types/ip-address.ts';
import { parsePrefix, prefix } from '../types/prefix.ts';
import type { CodecContext } from '../wire/context.ts';
import type { UpdateMessage } from '../wire/message.ts';
import { encodeMessage } from '../wire/message-codec.ts';
import type { Nlri } from '../wire/nlri.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import { Origin, pathAttributes, SegmentType } from '../wire/path-attributes.ts';
import { AdjRibOut } from './adj-rib-out.ts';
import { AttributeTable } from './attribute-table.ts';
import { packAnnouncements, packWithdrawals } from './update-packing.ts';

function contextOf(maxSendLength: number): CodecContext {
  return {
    asn4: true,
    isInternal: false,
    localAsn: asn(64512),
    peerAsn: asn(65001),
    maxReceiveLength: 4096,
    maxSendLength,
    families: [ipv4Unicast, ipv6Unicast],
    addPathReceive: [],
    addPathSend: [],
  };
}

const context = contextOf(4096);

function attributes(fields: Partial<PathAttributes> = {}): PathAttributes {
  return pathAttributes({
    origin: Origin.Igp,
    asPath: [{ type: SegmentType.AsSequence, asns: [asn(64512)] }],
    nextHop: parseIpAddress('10.0.0.10'),
    ...fields,
  });
}

const ipv6Attributes = attributes({ nextHop: parseIpAddress('2001:db8::10') });

/** That many host prefixes of a family. */
function hosts(family: Family, count: number): readonly Nlri[] {
  return Array.from({ length: count }, (_, i) => {
    const bytes = new Uint8Array(family.maxPrefixLength / 8).fill(10);
    new DataView(bytes.buffer).setUint32(bytes.length - 4, i);
    return { prefix: prefix(family, bytes, family.maxPrefixLength), pathId: undefined };
  });
}

function lengths(messages: readonly UpdateMessage[], limit = context): readonly number[] {
  return messages.map((message) => encodeMessage(message, limit).length);
}

/** Large communities that fill about that many octets of an attribute. */
function filling(octets: number): Partial<PathAttributes> {
  return {
    largeCommunities: Array.from({ length: Math.floor(octets / 12) }, (_, i) => ({
      globalAdministrator: 64512,
      localData1: 0,
      localData2: i,
    })),
  };
}

describe('packing of UPDATEs', () => {
  it('fills the NLRI field to within one prefix of the limit', () => {
    const { messages, failed } = packAnnouncements(
      ipv4Unicast,
      attributes(),
      hosts(ipv4Unicast, 2000),
      context,
    );
    expect(failed).toEqual([]);
    expect(messages).toHaveLength(3);
    for (const length of lengths(messages.slice(0, -1))) expect(length).toBeGreaterThan(4096 - 5);
    expect(messages.flatMap(({ nlri }) => nlri)).toHaveLength(2000);
  });

  it('fills MP_REACH_NLRI to within one prefix of the limit', () => {
    const { messages } = packAnnouncements(ipv6Unicast, ipv6Attributes, hosts(ipv6Unicast, 500), context);
    expect(messages).toHaveLength(3);
    for (const length of lengths(messages.slice(0, -1))) expect(length).toBeGreaterThan(4096 - 17);
    expect(messages.flatMap(({ mpReach }) => mpReach?.nlri ?? [])).toHaveLength(500);
  });

  it.each([
    [ipv4Unicast, 2000, 5],
    [ipv6Unicast, 500, 17],
  ])('fills withdrawals of $name', (family, count, size) => {
    const messages = packWithdrawals(family, hosts(family, count), context);
    expect(messages).toHaveLength(3);
    for (const length of lengths(messages.slice(0, -1))) expect(length).toBeGreaterThan(4096 - size);
  });

  it('uses one message where the peer takes 65535 octets (RFC 8654)', () => {
    const extended = contextOf(65535);
    const { messages } = packAnnouncements(ipv4Unicast, attributes(), hosts(ipv4Unicast, 2000), extended);
    expect(messages).toHaveLength(1);
    expect(lengths(messages, extended)[0]).toBeGreaterThan(10000);
  });

  it('counts path identifiers', () => {
    const routes = hosts(ipv4Unicast, 1000).map(({ prefix: p }, i) => ({ prefix: p, pathId: i }));
    const addPath = { ...context, addPathSend: [ipv4Unicast] };
    const { messages } = packAnnouncements(ipv4Unicast, attributes(), routes, addPath);
    expect(messages).toHaveLength(3);
    for (const length of lengths(messages.slice(0, -1), addPath)) expect(length).toBeGreaterThan(4096 - 9);
  });

  // The value of MP_REACH_NLRI is 21 octets and one for each ::/0; past 255 its length takes two octets.
  it.each([233, 234, 235, 236])('is exact around a value of 255 octets: %i prefixes', (count) => {
    const small = { prefix: parsePrefix('::/0'), pathId: undefined };
    const routes = Array.from({ length: count }, () => small);
    const whole = packAnnouncements(ipv6Unicast, ipv6Attributes, routes, context).messages;
    const [length = 0] = lengths(whole);
    const same = packAnnouncements(ipv6Unicast, ipv6Attributes, routes, contextOf(length)).messages;
    expect(same).toHaveLength(1);
    const split = packAnnouncements(ipv6Unicast, ipv6Attributes, routes, contextOf(length - 1)).messages;
    expect(split).toHaveLength(2);
    expect(Math.max(...lengths(split, contextOf(length - 1)))).toBeLessThan(length);
  });

  it('reports an announcement that does not fit alone, and packs those of the same attributes that do', () => {
    const short = { prefix: parsePrefix('10.0.0.0/8'), pathId: undefined };
    const long = { prefix: parsePrefix('10.1.2.3/32'), pathId: undefined };
    const [size = 0] = lengths(packAnnouncements(ipv4Unicast, attributes(), [short], context).messages);
    const { messages, failed } = packAnnouncements(ipv4Unicast, attributes(), [long, short], contextOf(size));
    expect(messages.flatMap(({ nlri }) => nlri)).toEqual([short]);
    expect(failed).toEqual([{ nlri: long, reason: expect.stringContaining(`${size + 3} octets`) }]);
  });

  it.each<[string, Family, Partial<PathAttributes>, string]>([
    [
      'an IPv6 next hop of an IPv4 route',
      ipv4Unicast,
      { nextHop: parseIpAddress('2001:db8::1') },
      'RFC 8950',
    ],
    ['an IPv4 next hop of an IPv6 route', ipv6Unicast, {}, 'is not IPv6'],
    ['a missing next hop', ipv4Unicast, { nextHop: undefined }, 'no next hop'],
    ['attributes longer than any message', ipv4Unicast, filling(70000), 'fit'],
  ])('reports %s', (_, family, fields, reason) => {
    const { messages, failed } = packAnnouncements(family, attributes(fields), hosts(family, 2), context);
    expect(messages).toEqual([]);
    expect(failed).toHaveLength(2);
    expect(failed[0]?.reason).toContain(reason);
  });
});

describe('AdjRibOut and routes that are too long', () => {
  const huge = { prefix: parsePrefix('192.0.2.0/24'), attributes: attributes(filling(4200)) };

  it('does not send a route that only a longer message could carry, and says so (RFC 8654 section 4)', () => {
    const rib = new AdjRibOut(new AttributeTable());
    rib.set(ipv4Unicast, [huge]);
    expect(rib.flush(context)).toEqual([]);
    expect(rib.unsent).toMatchObject([{ route: huge, reason: expect.stringContaining('192.0.2.0/24') }]);
    expect([...rib.advertised()]).toEqual([]);
    rib.reset();
    expect(rib.flush(contextOf(65535))).toHaveLength(1);
    expect(rib.unsent).toEqual([]);
  });

  it('withdraws the route that it would have replaced', () => {
    const rib = new AdjRibOut(new AttributeTable());
    rib.set(ipv4Unicast, [{ ...huge, attributes: attributes() }]);
    rib.flush(context);
    rib.set(ipv4Unicast, [huge]);
    expect(rib.flush(context)).toMatchObject([{ withdrawn: [{ prefix: huge.prefix }], nlri: [] }]);
    expect(rib.flush(context)).toEqual([]);
  });
});
