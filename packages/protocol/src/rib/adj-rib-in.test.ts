import { describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import { ipv4Unicast, ipv6Unicast } from '../types/family.ts';
import { parseIpAddress } from '../types/ip-address.ts';
import { formatPrefix, parsePrefix } from '../types/prefix.ts';
import { parseRouterId } from '../types/router-id.ts';
import type { DecodedUpdate } from '../wire/message.ts';
import type { Nlri } from '../wire/nlri.ts';
import type { MpReach, PathAttributes } from '../wire/path-attributes.ts';
import { Origin, pathAttributes, SegmentType } from '../wire/path-attributes.ts';
import type { AdjRibInOptions } from './adj-rib-in.ts';
import { AdjRibIn } from './adj-rib-in.ts';
import { AttributeTable } from './attribute-table.ts';
import type { Path, PathSource } from './path.ts';

const source: PathSource = {
  name: 'm1',
  address: parseIpAddress('10.0.0.11'),
  routerId: parseRouterId('10.0.0.11'),
  asn: asn(65001),
  isInternal: false,
};

function attributes(fields: Partial<PathAttributes> = {}): PathAttributes {
  return pathAttributes({
    origin: Origin.Igp,
    asPath: [{ type: SegmentType.AsSequence, asns: [asn(65001)] }],
    nextHop: parseIpAddress('10.0.0.11'),
    ...fields,
  });
}

function nlri(text: string, pathId?: number): Nlri {
  return { prefix: parsePrefix(text), pathId };
}

function update(fields: Partial<DecodedUpdate>): DecodedUpdate {
  return {
    type: 'UPDATE',
    withdrawn: [],
    attributes: undefined,
    nlri: [],
    mpReach: undefined,
    mpUnreach: undefined,
    faults: [],
    treatAsWithdraw: false,
    ...fields,
  };
}

function announce(nlris: readonly Nlri[], fields: Partial<PathAttributes> = {}): DecodedUpdate {
  return update({ attributes: attributes(fields), nlri: nlris });
}

function ribIn(options: Partial<AdjRibInOptions> = {}): AdjRibIn {
  return new AdjRibIn({ table: new AttributeTable(), source, ...options });
}

function names(paths: Iterable<Pick<Path, 'prefix' | 'pathId'>>): readonly string[] {
  return [...paths].map(({ prefix, pathId }) => formatPrefix(prefix) + (pathId === 0 ? '' : ` id ${pathId}`));
}

describe('AdjRibIn', () => {
  it('takes what is announced, with its source and the time', () => {
    const rib = ribIn();
    const change = rib.apply(announce([nlri('192.0.2.0/24'), nlri('198.51.100.0/24')]), 1234);
    expect(names(change.announced)).toEqual(['192.0.2.0/24', '198.51.100.0/24']);
    expect(change).toMatchObject({ withdrawn: [], rejected: [] });
    const [path] = rib.pathsOf(parsePrefix('192.0.2.0/24'));
    expect(path).toMatchObject({ pathId: 0, from: source, learnedAt: 1234, isStale: false });
    expect(path).toEqual(change.announced[0]);
    expect(rib.size).toBe(2);
  });

  it('forgets what is withdrawn, and hands back the path as it was', () => {
    const rib = ribIn();
    const [path] = rib.apply(announce([nlri('192.0.2.0/24')]), 0).announced;
    const change = rib.apply(update({ withdrawn: [nlri('192.0.2.0/24')] }), 1);
    expect(change.withdrawn).toEqual([path]);
    expect(rib.size).toBe(0);
    expect(rib.pathsOf(parsePrefix('192.0.2.0/24'))).toEqual([]);
  });

  it('knows a prefix by its network, whichever host bits it is written with', () => {
    const rib = ribIn();
    rib.apply(announce([nlri('10.0.0.1/24')]), 0);
    expect(names(rib.paths())).toEqual(['10.0.0.0/24']);
    rib.apply(update({ withdrawn: [nlri('10.0.0.77/24')] }), 1);
    expect(rib.size).toBe(0);
  });

  it('takes a prefix that one UPDATE withdraws and announces as announced (RFC 4271 section 4.3)', () => {
    const rib = ribIn();
    const both = { ...announce([nlri('192.0.2.0/24')]), withdrawn: [nlri('192.0.2.0/24')] };
    expect(rib.apply(both, 0)).toMatchObject({ announced: [{ pathId: 0 }], withdrawn: [] });
    expect(rib.apply(both, 1)).toEqual({ announced: [], withdrawn: [], rejected: [] });
    expect(rib.size).toBe(1);
  });

  it('ignores the withdrawal of a prefix that it does not have', () => {
    const change = ribIn().apply(update({ withdrawn: [nlri('192.0.2.0/24')] }), 0);
    expect(change).toEqual({ announced: [], withdrawn: [], rejected: [] });
  });

  it('sees no change in an announcement that says the same', () => {
    const rib = ribIn();
    rib.apply(announce([nlri('192.0.2.0/24')], { communities: [1, 2] }), 10);
    const change = rib.apply(announce([nlri('192.0.2.0/24')], { communities: [2, 1] }), 20);
    expect(change).toEqual({ announced: [], withdrawn: [], rejected: [] });
    expect(rib.pathsOf(parsePrefix('192.0.2.0/24'))).toMatchObject([{ learnedAt: 10 }]);
  });

  it('replaces a path when its attributes change', () => {
    const rib = ribIn();
    rib.apply(announce([nlri('192.0.2.0/24')]), 10);
    const change = rib.apply(announce([nlri('192.0.2.0/24')], { multiExitDisc: 5 }), 20);
    expect(change.announced).toMatchObject([{ attributes: { multiExitDisc: 5 }, learnedAt: 20 }]);
    expect(change.withdrawn).toEqual([]);
    expect(rib.size).toBe(1);
  });

  it('withdraws the announced prefixes of an UPDATE that is to be treated as a withdrawal (RFC 7606 section 2)', () => {
    const rib = ribIn();
    rib.apply(announce([nlri('192.0.2.0/24')]), 0);
    const broken = { ...announce([nlri('192.0.2.0/24'), nlri('198.51.100.0/24')]), treatAsWithdraw: true };
    const change = rib.apply(broken, 1);
    expect(names(change.withdrawn)).toEqual(['192.0.2.0/24']);
    expect(change.announced).toEqual([]);
    expect(rib.size).toBe(0);
  });

  it('holds one reference to its attributes for each path and none after the last is gone', () => {
    const table = new AttributeTable();
    const rib = ribIn({ table });
    rib.apply(announce([nlri('192.0.2.0/24'), nlri('198.51.100.0/24')]), 0);
    rib.apply(announce([nlri('192.0.2.0/24')]), 1);
    rib.apply(announce([nlri('192.0.2.0/24')], { multiExitDisc: 1 }), 2);
    expect(table.size).toBe(2);
    rib.apply(update({ withdrawn: [nlri('198.51.100.0/24')] }), 3);
    expect(table.size).toBe(1);
    rib.clear();
    expect(table.size).toBe(0);
  });

  it('takes over the source of a new session, and tells of paths that it changes', () => {
    const rib = ribIn();
    rib.apply(announce([nlri('192.0.2.0/24')]), 0);
    rib.source = { ...source };
    expect(rib.apply(announce([nlri('192.0.2.0/24')]), 1).announced).toEqual([]);
    rib.source = { ...source, routerId: parseRouterId('10.0.0.99') };
    expect(rib.apply(announce([nlri('192.0.2.0/24')]), 2).announced).toMatchObject([
      { from: { routerId: parseRouterId('10.0.0.99') } },
    ]);
  });
});

describe('AdjRibIn with multiprotocol routes', () => {
  const mpReach: MpReach = {
    family: ipv6Unicast,
    nextHop: { address: parseIpAddress('2001:db8::1'), linkLocal: parseIpAddress('fe80::1') },
    nlri: [nlri('2001:db8:1::/48')],
  };

  it('gives routes of MP_REACH_NLRI its next hop, and others NEXT_HOP', () => {
    const rib = ribIn();
    rib.apply({ ...announce([nlri('192.0.2.0/24')]), mpReach }, 0);
    const [ipv4] = rib.pathsOf(parsePrefix('192.0.2.0/24'));
    const [ipv6] = rib.pathsOf(parsePrefix('2001:db8:1::/48'));
    expect(ipv4?.attributes).toEqual(attributes());
    expect(ipv6?.attributes).toEqual(
      attributes({
        nextHop: parseIpAddress('2001:db8::1'),
        linkLocalNextHop: parseIpAddress('fe80::1'),
      }),
    );
  });

  it('withdraws by MP_UNREACH_NLRI, and by MP_REACH_NLRI that is to be treated as a withdrawal', () => {
    const rib = ribIn();
    const reach = update({ attributes: attributes(), mpReach });
    rib.apply(reach, 0);
    rib.apply(update({ mpUnreach: { family: ipv6Unicast, nlri: mpReach.nlri } }), 1);
    expect(rib.size).toBe(0);
    rib.apply(reach, 2);
    rib.apply({ ...reach, treatAsWithdraw: true }, 3);
    expect(rib.size).toBe(0);
  });

  it('counts each family', () => {
    const rib = ribIn();
    rib.apply({ ...announce([nlri('192.0.2.0/24'), nlri('198.51.100.0/24')]), mpReach }, 0);
    expect([rib.sizeOf(ipv4Unicast), rib.sizeOf(ipv6Unicast), rib.size]).toEqual([2, 1, 3]);
    expect(names(rib.clear(ipv4Unicast).withdrawn)).toEqual(['192.0.2.0/24', '198.51.100.0/24']);
    expect(names(rib.paths())).toEqual(['2001:db8:1::/48']);
  });
});

describe('AdjRibIn with path identifiers (RFC 7911 section 3)', () => {
  it('keeps the paths of one prefix apart, replaces and withdraws each by its identifier', () => {
    const rib = ribIn();
    rib.apply(announce([nlri('192.0.2.0/24', 1), nlri('192.0.2.0/24', 2)]), 0);
    expect(names(rib.pathsOf(parsePrefix('192.0.2.0/24')))).toEqual([
      '192.0.2.0/24 id 1',
      '192.0.2.0/24 id 2',
    ]);
    rib.apply(update({ withdrawn: [nlri('192.0.2.0/24', 1)] }), 1);
    expect(names(rib.paths())).toEqual(['192.0.2.0/24 id 2']);
    const change = rib.apply(announce([nlri('192.0.2.0/24', 2)], { multiExitDisc: 7 }), 2);
    expect(names(change.announced)).toEqual(['192.0.2.0/24 id 2']);
    expect(rib.size).toBe(1);
  });

  it('takes identifier 0, the greatest one, and one identifier for several prefixes', () => {
    const rib = ribIn();
    const routes = [
      nlri('192.0.2.0/24', 0),
      nlri('192.0.2.0/24', 0xffffffff),
      nlri('198.51.100.0/24', 0xffffffff),
    ];
    const nextHop = { address: parseIpAddress('2001:db8::1'), linkLocal: undefined };
    const mpReach = { family: ipv6Unicast, nextHop, nlri: [nlri('2001:db8::/32', 0xffffffff)] };
    rib.apply({ ...announce(routes), mpReach }, 0);
    expect(rib.size).toBe(4);
    rib.apply(update({ withdrawn: [nlri('192.0.2.0/24', 0)] }), 1);
    expect(rib.size).toBe(3);
  });
});
