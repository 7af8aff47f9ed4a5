import { beforeEach, describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import { ipv4Unicast, ipv6Unicast } from '../types/family.ts';
import { formatIpAddress, parseIpAddress } from '../types/ip-address.ts';
import { formatPrefix, parsePrefix } from '../types/prefix.ts';
import { parseRouterId } from '../types/router-id.ts';
import type { CodecContext } from '../wire/context.ts';
import { Framer } from '../wire/framer.ts';
import { decodeMessage } from '../wire/message-codec.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import { AttributeTable } from './attribute-table.ts';
import { pathFrom, source } from './kit/paths.ts';
import type { Path, PathSource } from './path.ts';
import { type ReflectorPeer, RouteReflector } from './route-reflector.ts';
import type { GroupMember } from './update-group.ts';
import { routesOf } from './update-routes.ts';

const vip = parsePrefix('10.100.0.1/32');
const clusterId = parseRouterId('10.0.0.10');
let table: AttributeTable;
let unreachable: Set<string>;
let reflector: RouteReflector;

beforeEach(() => {
  table = new AttributeTable();
  unreachable = new Set();
  told = [];
  reflector = new RouteReflector({
    localAsn: asn(64512),
    clusterId,
    table,
    decision: { isReachable: ({ from }) => !unreachable.has(from.name) },
  });
});

const single: CodecContext = {
  asn4: true,
  isInternal: true,
  localAsn: asn(64512),
  peerAsn: asn(64512),
  maxReceiveLength: 4096,
  maxSendLength: 4096,
  families: [ipv4Unicast],
  addPathReceive: [],
  addPathSend: [],
};
/** For both directions: what is sent is read with it. */
const withAddPath = { context: { ...single, addPathSend: [ipv4Unicast], addPathReceive: [ipv4Unicast] } };

function peer(host: number, fields: Partial<ReflectorPeer> = {}): ReflectorPeer {
  const { name, routerId } = source(host);
  return { name, routerId, isInternal: true, isClient: true, context: single, ...fields };
}

/** Who is told, in the order of their sessions. */
let told: { readonly peer: ReflectorPeer; readonly members: readonly GroupMember[] }[];

function add(peer: ReflectorPeer): void {
  told.push({ peer, members: reflector.addPeer(peer) });
}

/** A path as an Adj-RIB-In has it: its attributes are interned. */
function learn(from: PathSource, fields: Partial<PathAttributes> = {}, pathId = 0, isClient = true): Path {
  const path = pathFrom(from, fields, { pathId });
  const known = { ...path, attributes: table.intern(path.attributes) };
  reflector.apply({ name: from.name, isClient }, { announced: [known], withdrawn: [], rejected: [] });
  return known;
}

/** What another reflector makes of the path of a peer. */
function reflected(host: number): Partial<PathAttributes> {
  const { address, routerId } = source(host);
  return { nextHop: address, originatorId: routerId, clusterList: [parseRouterId('9.9.9.9')] };
}

function lose(path: Path): void {
  reflector.apply(
    { name: path.from.name, isClient: true },
    { announced: [], withdrawn: [path], rejected: [] },
  );
  table.release(path.attributes);
}

/** What the peers are sent: `m12: +10.0.0.11#1 -#2`. */
function flush(): string[] {
  reflector.flush();
  return told.flatMap(({ peer: { name, context }, members }) => {
    const lines = members.flatMap((member) => read(member, context));
    return lines.length > 0 ? [[`${name}:`, ...lines].join(' ')] : [];
  });
}

/** Announcements first, by path identifier. */
function read(member: GroupMember, context: CodecContext): string[] {
  const framer = new Framer(context.maxReceiveLength);
  for (let chunks = member.next(); chunks !== undefined; chunks = member.next()) {
    for (const { bytes } of chunks) framer.push(bytes);
  }
  const lines: string[] = [];
  for (let frame = framer.next(); frame !== undefined; frame = framer.next()) {
    const update = decodeMessage(frame, context);
    if (update.type !== 'UPDATE') throw new Error(`${update.type} instead of an UPDATE`);
    const { announced, withdrawn } = routesOf(update);
    for (const { attributes, routes } of announced) {
      const hop = attributes.nextHop && formatIpAddress(attributes.nextHop);
      for (const { pathId = 0 } of routes) lines.push(`+${hop}#${pathId}`);
    }
    for (const { pathId = 0 } of withdrawn.flat()) lines.push(`-#${pathId}`);
  }
  return lines.sort();
}

describe('a route reflector', () => {
  it('gives clients with ADD-PATH all paths but their own, under identifiers that stay', () => {
    for (const host of [11, 12, 13]) add(peer(host, withAddPath));
    learn(source(11));
    const second = learn(source(12));
    learn(source(13));
    expect(flush()).toEqual([
      'm11: +10.0.0.12#2 +10.0.0.13#3',
      'm12: +10.0.0.11#1 +10.0.0.13#3',
      'm13: +10.0.0.11#1 +10.0.0.12#2',
    ]);
    lose(second);
    expect(flush()).toEqual(['m11: -#2', 'm13: -#2']);
    // The best one becomes the worst: its identifier stays.
    learn(source(11), { localPref: 0 });
    expect(flush()).toEqual(['m12: +10.0.0.11#1', 'm13: +10.0.0.11#1']);
  });

  it('gives others the best path, and nothing where that came from themselves', () => {
    for (const host of [11, 12, 13]) add(peer(host));
    learn(source(11));
    learn(source(12));
    expect(flush()).toEqual(['m12: +10.0.0.11#0', 'm13: +10.0.0.11#0']);
    learn(source(11), { localPref: 0 });
    expect(flush()).toEqual(['m11: +10.0.0.12#0', 'm12: -#0', 'm13: +10.0.0.12#0']);
  });

  it('gives non-clients the paths of clients only', () => {
    add(peer(8, { isClient: false, ...withAddPath }));
    add(peer(11, withAddPath));
    learn(source(12));
    learn(source(9), reflected(13), 0, false);
    expect(flush()).toEqual(['m8: +10.0.0.12#1', 'm11: +10.0.0.12#1 +10.0.0.13#2']);
  });

  it('sends several paths of one peer under identifiers of their own', () => {
    add(peer(12, withAddPath));
    learn(source(9), { nextHop: source(11).address }, 7);
    learn(source(9), { nextHop: source(13).address }, 9);
    expect(flush()).toEqual(['m12: +10.0.0.11#1 +10.0.0.13#2']);
  });

  it('leaves out what another way leads to, and what cannot be used', () => {
    add(peer(12, withAddPath));
    learn(source(11));
    learn(source(9), reflected(11));
    expect(flush()).toEqual(['m12: +10.0.0.11#1']);
    unreachable.add('m11');
    reflector.touch(vip);
    expect(flush()).toEqual(['m12: +10.0.0.11#2 -#1']);
  });

  it('gives a peer everything when its session comes up, in the families that it has', () => {
    learn(source(11));
    learn(source(12));
    add(peer(13, withAddPath));
    add(peer(14, { context: { ...single, families: [ipv6Unicast] } }));
    expect(flush()).toEqual(['m13: +10.0.0.11#1 +10.0.0.12#2']);
    reflector.removePeer('m13');
    told = told.filter(({ peer: { name } }) => name !== 'm13');
    lose(learn(source(11)));
    expect(flush()).toEqual([]);
  });

  it('tells a peer that comes later nothing of what is gone, though others have yet to hear that', () => {
    add(peer(12, withAddPath));
    const gone = learn(source(11));
    expect(flush()).toHaveLength(1);
    lose(gone);
    reflector.flush();
    add(peer(13, withAddPath));
    expect(flush()).toEqual(['m12: -#1']);
  });

  it('says the same thing once: an unchanged path makes no message', () => {
    add(peer(12, withAddPath));
    const path = learn(source(11));
    expect(flush()).toHaveLength(1);
    reflector.apply(
      { name: 'm11', isClient: true },
      { announced: [], withdrawn: [], rejected: [], refreshed: [{ ...path, learnedAt: 5 }] },
    );
    expect(flush()).toEqual([]);
  });

  it('passes a link-local next hop on to those on its link, and to nobody else', () => {
    const six = { context: { ...single, families: [ipv6Unicast] } };
    for (const [host, zone] of [
      [12, 'eth0'],
      [13, 'eth1'],
      [14, undefined],
    ] as const)
      add(peer(host, { ...six, zone }));
    const nextHop = parseIpAddress('fe80::11');
    const path = pathFrom(source(11, { zone: 'eth0' }), { nextHop }, { prefix: 'fd00:64::1/128' });
    const announced = [{ ...path, attributes: table.intern(path.attributes) }];
    reflector.apply({ name: 'm11', isClient: true }, { announced, withdrawn: [], rejected: [] });
    expect(flush()).toEqual(['m12: +fe80::11#0']);
  });

  it('forgets everything about paths that are gone', () => {
    add(peer(12, withAddPath));
    add(peer(1, { isInternal: false, context: { ...single, isInternal: false } }));
    for (const path of [learn(source(11)), learn(source(13))]) {
      flush();
      lose(path);
    }
    flush();
    expect([...reflector.prefixes()].map(formatPrefix)).toEqual([]);
    expect(table.size).toBe(0);
  });
});
