import { describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import { ipv4Unicast, ipv6Unicast } from '../types/family.ts';
import { parseIpAddress } from '../types/ip-address.ts';
import { formatPrefix, parsePrefix } from '../types/prefix.ts';
import type { CodecContext } from '../wire/context.ts';
import type { UpdateMessage } from '../wire/message.ts';
import type { Nlri } from '../wire/nlri.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import { Origin, pathAttributes, SegmentType } from '../wire/path-attributes.ts';
import type { Route } from './adj-rib-out.ts';
import { AdjRibOut } from './adj-rib-out.ts';
import { AttributeTable } from './attribute-table.ts';

const context: CodecContext = {
  asn4: true,
  isInternal: false,
  localAsn: asn(64512),
  peerAsn: asn(65001),
  maxReceiveLength: 4096,
  maxSendLength: 4096,
  families: [ipv4Unicast, ipv6Unicast],
  addPathReceive: [],
  addPathSend: [],
};
const withPathIds: CodecContext = { ...context, addPathSend: [ipv4Unicast] };

function attributes(fields: Partial<PathAttributes> = {}): PathAttributes {
  return pathAttributes({
    origin: Origin.Igp,
    asPath: [{ type: SegmentType.AsSequence, asns: [asn(64512)] }],
    nextHop: parseIpAddress('10.0.0.10'),
    ...fields,
  });
}

function route(text: string, fields: Partial<PathAttributes> = {}, pathId?: number): Route {
  return {
    prefix: parsePrefix(text),
    attributes: attributes(fields),
    ...(pathId !== undefined && { pathId }),
  };
}

const ipv6Hop = { nextHop: parseIpAddress('2001:db8::10') };

function names(nlri: readonly Nlri[] | undefined): string {
  return (nlri ?? [])
    .map(({ prefix, pathId }) => formatPrefix(prefix) + (pathId === undefined ? '' : `#${pathId}`))
    .join(' ');
}

/** Each message in a line: what it withdraws and announces, by field. */
function lines(messages: readonly UpdateMessage[]): readonly string[] {
  return messages.map((m) =>
    [
      ['withdraw', m.withdrawn],
      ['unreach', m.mpUnreach?.nlri],
      ['announce', m.nlri],
      ['reach', m.mpReach?.nlri],
    ]
      .filter((field): field is [string, readonly Nlri[]] => (field[1]?.length ?? 0) > 0)
      .map(([field, nlri]) => `${field} ${names(nlri)}`)
      .join(', '),
  );
}

function ribOut(routes: readonly Route[] = []): AdjRibOut {
  const rib = new AdjRibOut(new AttributeTable());
  rib.set(ipv4Unicast, routes);
  return rib;
}

describe('AdjRibOut', () => {
  it('sends what is wanted once', () => {
    const rib = ribOut([route('192.0.2.0/24')]);
    const [message, ...others] = rib.flush(context);
    expect(message).toMatchObject({ attributes: attributes(), mpReach: undefined, mpUnreach: undefined });
    expect(names(message?.nlri)).toBe('192.0.2.0/24');
    expect(others).toEqual([]);
    expect(rib.flush(context)).toEqual([]);
    expect([...rib.advertised()]).toMatchObject([{ prefix: parsePrefix('192.0.2.0/24') }]);
  });

  it('puts routes with equal attributes in one UPDATE and others in another', () => {
    const rib = ribOut([
      route('10.1.0.0/16'),
      route('10.2.0.0/16', { multiExitDisc: 1 }),
      route('10.3.0.0/16'),
    ]);
    expect(lines(rib.flush(context))).toEqual(['announce 10.1.0.0/16 10.3.0.0/16', 'announce 10.2.0.0/16']);
  });

  it('sends the difference alone, withdrawals first', () => {
    const rib = ribOut([route('10.1.0.0/16'), route('10.2.0.0/16'), route('10.3.0.0/16')]);
    rib.flush(context);
    rib.set(ipv4Unicast, [
      route('10.2.0.0/16', { multiExitDisc: 1 }),
      route('10.3.0.0/16'),
      route('10.4.0.0/16'),
    ]);
    expect(lines(rib.flush(context))).toEqual([
      'withdraw 10.1.0.0/16',
      'announce 10.2.0.0/16',
      'announce 10.4.0.0/16',
    ]);
  });

  it('sends nothing for a route that came and went between two flushes', () => {
    const rib = ribOut();
    rib.flush(context);
    rib.set(ipv4Unicast, [route('10.1.0.0/16')]);
    rib.set(ipv4Unicast, []);
    expect(rib.flush(context)).toEqual([]);
  });

  it('says whether the wanted set changed', () => {
    const rib = ribOut();
    expect(rib.set(ipv4Unicast, [])).toBe(false);
    expect(rib.set(ipv4Unicast, [route('10.1.0.0/16')])).toBe(true);
    expect(rib.set(ipv4Unicast, [route('10.1.0.0/16')])).toBe(false);
    expect(rib.set(ipv4Unicast, [route('10.1.0.0/16', { multiExitDisc: 1 })])).toBe(true);
    expect(rib.set(ipv4Unicast, [route('10.2.0.0/16', { multiExitDisc: 1 })])).toBe(true);
    expect(rib.set(ipv4Unicast, [])).toBe(true);
  });

  it('carries IPv6 in MP_REACH_NLRI and MP_UNREACH_NLRI, without NEXT_HOP', () => {
    const rib = new AdjRibOut(new AttributeTable());
    const linkLocalNextHop = parseIpAddress('fe80::10');
    rib.set(ipv6Unicast, [route('2001:db8:1::/48', { ...ipv6Hop, linkLocalNextHop })]);
    const [message] = rib.flush(context);
    expect(message?.mpReach?.nextHop).toEqual({ address: ipv6Hop.nextHop, linkLocal: linkLocalNextHop });
    expect(message?.attributes).toEqual(attributes({ nextHop: undefined }));
    expect(message?.nlri).toEqual([]);
    rib.set(ipv6Unicast, []);
    expect(lines(rib.flush(context))).toEqual(['unreach 2001:db8:1::/48']);
  });

  it('sends nothing of a family that was not negotiated, and keeps it for a session that has it', () => {
    const rib = new AdjRibOut(new AttributeTable());
    rib.set(ipv6Unicast, [route('2001:db8:1::/48', ipv6Hop)]);
    expect(rib.flush({ ...context, families: [ipv4Unicast] })).toEqual([]);
    expect([...rib.advertised()]).toEqual([]);
    rib.reset();
    expect(lines(rib.flush(context))).toEqual(['reach 2001:db8:1::/48']);
  });

  it('sends all again after a refresh, and withdraws what is no longer wanted', () => {
    const rib = ribOut([route('10.1.0.0/16'), route('10.2.0.0/16')]);
    rib.flush(context);
    rib.refresh(ipv6Unicast);
    expect(rib.flush(context)).toEqual([]);
    rib.set(ipv4Unicast, [route('10.2.0.0/16')]);
    rib.refresh(ipv4Unicast);
    expect(lines(rib.flush(context))).toEqual(['withdraw 10.1.0.0/16', 'announce 10.2.0.0/16']);
    expect(rib.flush(context)).toEqual([]);
  });

  it('sends all again to a new session, and no withdrawal for what the old one had', () => {
    const rib = ribOut([route('10.1.0.0/16'), route('10.2.0.0/16')]);
    rib.flush(context);
    rib.set(ipv4Unicast, [route('10.2.0.0/16')]);
    rib.reset();
    expect([...rib.advertised()]).toEqual([]);
    expect(lines(rib.flush(context))).toEqual(['announce 10.2.0.0/16']);
  });

  it('gives back its references to attributes', () => {
    const table = new AttributeTable();
    const rib = new AdjRibOut(table);
    rib.set(ipv4Unicast, [route('10.1.0.0/16'), route('10.2.0.0/16')]);
    rib.flush(context);
    rib.set(ipv4Unicast, [route('10.1.0.0/16', { multiExitDisc: 1 })]);
    expect(table.size).toBe(2);
    rib.flush(context);
    expect(table.size).toBe(1);
    rib.set(ipv4Unicast, []);
    rib.reset();
    expect(table.size).toBe(0);
  });

  it('refuses a route that stands twice, or of another family, by name, and keeps what was wanted', () => {
    const rib = ribOut([route('10.1.0.0/16')]);
    const twice = [route('10.2.0.0/16'), route('10.2.0.0/16', { multiExitDisc: 1 })];
    expect(() => rib.set(ipv4Unicast, twice)).toThrow('10.2.0.0/16 with path identifier 0 is given twice');
    expect(() => rib.set(ipv4Unicast, [route('2001:db8::/32')])).toThrow(
      '2001:db8::/32 is not of family ipv4-unicast',
    );
    expect(rib.wanted(ipv4Unicast)).toMatchObject([{ prefix: parsePrefix('10.1.0.0/16') }]);
  });
});

describe('AdjRibOut with path identifiers', () => {
  const both = [route('10.1.0.0/16', { multiExitDisc: 1 }, 1), route('10.1.0.0/16', { multiExitDisc: 2 }, 2)];

  it('sends each path with its identifier and withdraws it by that', () => {
    const rib = ribOut(both);
    expect(lines(rib.flush(withPathIds))).toEqual(['announce 10.1.0.0/16#1', 'announce 10.1.0.0/16#2']);
    rib.set(ipv4Unicast, both.slice(1));
    expect(lines(rib.flush(withPathIds))).toEqual(['withdraw 10.1.0.0/16#1']);
    expect([...rib.advertised()]).toMatchObject([{ pathId: 2 }]);
  });

  it('sends identifier 0 for a route that has none', () => {
    expect(lines(ribOut([route('10.1.0.0/16')]).flush(withPathIds))).toEqual(['announce 10.1.0.0/16#0']);
  });

  it('sends the first route of a prefix to a peer without ADD-PATH, and reports the others', () => {
    const rib = ribOut(both);
    const [message, ...others] = rib.flush(context);
    expect(names(message?.nlri)).toBe('10.1.0.0/16');
    expect(message?.attributes?.multiExitDisc).toBe(1);
    expect(others).toEqual([]);
    expect(rib.unsent).toMatchObject([
      { route: { pathId: 2 }, reason: expect.stringContaining('10.1.0.0/16') },
    ]);
  });

  it('replaces that route without a withdrawal when another comes first', () => {
    const rib = ribOut(both);
    rib.flush(context);
    rib.set(ipv4Unicast, both.toReversed());
    const [message, ...others] = rib.flush(context);
    expect(message?.attributes?.multiExitDisc).toBe(2);
    expect(lines([...others])).toEqual([]);
    rib.set(ipv4Unicast, both.slice(0, 1));
    expect(lines(rib.flush(context))).toEqual(['announce 10.1.0.0/16']);
    expect(rib.unsent).toEqual([]);
  });
});
