import { beforeEach, describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import { ipv4Unicast, ipv6Unicast } from '../types/family.ts';
import { formatIpAddress } from '../types/ip-address.ts';
import { formatPrefix, parsePrefix } from '../types/prefix.ts';
import { parseRouterId } from '../types/router-id.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import type { Route } from './adj-rib-out.ts';
import { AttributeTable } from './attribute-table.ts';
import { pathFrom, source } from './kit/paths.ts';
import type { Path, PathSource } from './path.ts';
import { type ReflectorPeer, RouteReflector } from './route-reflector.ts';

const vip = parsePrefix('10.100.0.1/32');
const clusterId = parseRouterId('10.0.0.10');
let table: AttributeTable;
let unreachable: Set<string>;
let reflector: RouteReflector;

beforeEach(() => {
  table = new AttributeTable();
  unreachable = new Set();
  reflector = new RouteReflector({
    localAsn: asn(64512),
    clusterId,
    table,
    decision: { isReachable: ({ from }) => !unreachable.has(from.name) },
  });
});

function peer(host: number, fields: Partial<ReflectorPeer> = {}): ReflectorPeer {
  const { name, routerId } = source(host);
  const families = [ipv4Unicast];
  return { name, routerId, isInternal: true, isClient: true, families, addPath: [], ...fields };
}

const withAddPath = { addPath: [ipv4Unicast] };

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

function text({ attributes, pathId }: Route): string {
  return `+${attributes.nextHop && formatIpAddress(attributes.nextHop)}#${pathId}`;
}

/** What a flush says to whom: `m12: +10.0.0.11#1 -#2`. */
function flush(): string[] {
  return [...reflector.flush()].map(([name, { announced, withdrawn }]) =>
    [`${name}:`, ...announced.map(text), ...withdrawn.map(({ pathId }) => `-#${pathId}`)].join(' '),
  );
}

describe('a route reflector', () => {
  it('gives clients with ADD-PATH all paths but their own, under identifiers that stay', () => {
    for (const host of [11, 12, 13]) reflector.addPeer(peer(host, withAddPath));
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
    for (const host of [11, 12, 13]) reflector.addPeer(peer(host));
    learn(source(11));
    learn(source(12));
    expect(flush()).toEqual(['m12: +10.0.0.11#0', 'm13: +10.0.0.11#0']);
    learn(source(11), { localPref: 0 });
    expect(flush()).toEqual(['m11: +10.0.0.12#0', 'm12: -#0', 'm13: +10.0.0.12#0']);
  });

  it('gives non-clients the paths of clients only', () => {
    reflector.addPeer(peer(8, { isClient: false, ...withAddPath }));
    reflector.addPeer(peer(11, withAddPath));
    learn(source(12));
    learn(source(9), reflected(13), 0, false);
    expect(flush()).toEqual(['m8: +10.0.0.12#1', 'm11: +10.0.0.12#1 +10.0.0.13#2']);
  });

  it('sends several paths of one peer under identifiers of their own', () => {
    reflector.addPeer(peer(12, withAddPath));
    learn(source(9), { nextHop: source(11).address }, 7);
    learn(source(9), { nextHop: source(13).address }, 9);
    expect(flush()).toEqual(['m12: +10.0.0.11#1 +10.0.0.13#2']);
  });

  it('leaves out what another way leads to, and what cannot be used', () => {
    reflector.addPeer(peer(12, withAddPath));
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
    expect(reflector.addPeer(peer(13, withAddPath)).map(text)).toEqual(['+10.0.0.11#1', '+10.0.0.12#2']);
    expect(reflector.addPeer(peer(14, { families: [ipv6Unicast] }))).toEqual([]);
    reflector.removePeer('m13');
    lose(learn(source(11)));
    expect(flush()).toEqual([]);
  });

  it('says the same thing once: an unchanged path makes no message', () => {
    reflector.addPeer(peer(12, withAddPath));
    const path = learn(source(11));
    expect(flush()).toHaveLength(1);
    reflector.apply(
      { name: 'm11', isClient: true },
      { announced: [], withdrawn: [], rejected: [], refreshed: [{ ...path, learnedAt: 5 }] },
    );
    expect(flush()).toEqual([]);
  });

  it('forgets everything about paths that are gone', () => {
    reflector.addPeer(peer(12, withAddPath));
    reflector.addPeer(peer(1, { isInternal: false }));
    for (const path of [learn(source(11)), learn(source(13))]) {
      flush();
      lose(path);
    }
    flush();
    expect([...reflector.prefixes()].map(formatPrefix)).toEqual([]);
    expect(table.size).toBe(0);
  });
});
