import { describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import { ipv4Unicast, ipv6Unicast } from '../types/family.ts';
import { parseIpAddress } from '../types/ip-address.ts';
import { formatPrefix, parsePrefix } from '../types/prefix.ts';
import { parseRouterId } from '../types/router-id.ts';
import type { DecodedUpdate } from '../wire/message.ts';
import { Origin, pathAttributes, SegmentType } from '../wire/path-attributes.ts';
import { AdjRibIn } from './adj-rib-in.ts';
import { AttributeTable } from './attribute-table.ts';
import { decide } from './decision.ts';
import type { Path } from './path.ts';

function announce(prefixes: readonly string[], multiExitDisc?: number): DecodedUpdate {
  const routes = prefixes.map((text) => ({ prefix: parsePrefix(text), pathId: undefined }));
  const nlri = routes.filter(({ prefix }) => prefix.family === ipv6Unicast);
  const nextHop = { address: parseIpAddress('2001:db8::11'), linkLocal: undefined };
  return {
    type: 'UPDATE',
    withdrawn: [],
    attributes: pathAttributes({
      origin: Origin.Igp,
      asPath: [{ type: SegmentType.AsSequence, asns: [asn(65001)] }],
      nextHop: parseIpAddress('10.0.0.11'),
      multiExitDisc,
    }),
    nlri: routes.filter(({ prefix }) => prefix.family === ipv4Unicast),
    mpReach: nlri.length === 0 ? undefined : { family: ipv6Unicast, nextHop, nlri },
    mpUnreach: undefined,
    faults: [],
    treatAsWithdraw: false,
  };
}

function filled(...prefixes: readonly string[]): AdjRibIn {
  const rib = new AdjRibIn({
    table: new AttributeTable(),
    source: {
      name: 'm1',
      address: parseIpAddress('10.0.0.11'),
      routerId: parseRouterId('10.0.0.11'),
      asn: asn(65001),
      isInternal: false,
    },
  });
  rib.apply(announce(prefixes), 1);
  return rib;
}

function states(rib: AdjRibIn): readonly string[] {
  return [...rib.paths()].map(({ prefix, isStale }) => `${formatPrefix(prefix)}${isStale ? ' stale' : ''}`);
}

function names(paths: readonly Path[] | undefined): readonly string[] {
  return (paths ?? []).map(({ prefix }) => formatPrefix(prefix));
}

describe('AdjRibIn over a restart of the peer (RFC 4724 section 4.2)', () => {
  it('keeps stale paths, which are as good as others', () => {
    const rib = filled('192.0.2.0/24');
    rib.markStale();
    expect(states(rib)).toEqual(['192.0.2.0/24 stale']);
    expect(decide([...rib.paths()]).best?.isStale).toBe(true);
  });

  it('removes at the end what was not announced again', () => {
    const rib = filled('10.1.0.0/24', '10.2.0.0/24');
    rib.markStale();
    rib.apply(announce(['10.2.0.0/24']), 2);
    expect(names(rib.sweepStale().withdrawn)).toEqual(['10.1.0.0/24']);
    expect(states(rib)).toEqual(['10.2.0.0/24']);
    expect(rib.sweepStale().withdrawn).toEqual([]);
  });

  it('clears the mark of a path that is announced again unchanged, without a change to announce', () => {
    const rib = filled('192.0.2.0/24');
    rib.markStale();
    const change = rib.apply(announce(['192.0.2.0/24']), 2);
    expect(change).toMatchObject({ announced: [], withdrawn: [], rejected: [] });
    expect(change.refreshed).toMatchObject([{ isStale: false, learnedAt: 1 }]);
    expect(states(rib)).toEqual(['192.0.2.0/24']);
  });

  it('announces a stale path that comes back with other attributes', () => {
    const rib = filled('192.0.2.0/24');
    rib.markStale();
    const change = rib.apply(announce(['192.0.2.0/24'], 5), 2);
    expect(change.announced).toMatchObject([{ isStale: false, learnedAt: 2 }]);
    expect(change.refreshed).toBeUndefined();
  });

  it('leaves paths that were handed out before as they were', () => {
    const rib = filled('192.0.2.0/24');
    const [before] = rib.paths();
    rib.markStale();
    expect(before?.isStale).toBe(false);
  });

  it('marks and sweeps one family by itself', () => {
    const rib = filled('10.1.0.0/24', '2001:db8::/32');
    rib.markStale(ipv6Unicast);
    expect(states(rib)).toEqual(['10.1.0.0/24', '2001:db8::/32 stale']);
    rib.markStale();
    expect(names(rib.sweepStale(ipv4Unicast).withdrawn)).toEqual(['10.1.0.0/24']);
    expect(states(rib)).toEqual(['2001:db8::/32 stale']);
  });

  it('is flushed of what is still stale when the peer restarts a second time', () => {
    const rib = filled('10.1.0.0/24', '10.2.0.0/24');
    rib.markStale();
    rib.apply(announce(['10.2.0.0/24']), 2);
    expect(names(rib.sweepStale().withdrawn)).toEqual(['10.1.0.0/24']);
    rib.markStale();
    expect(states(rib)).toEqual(['10.2.0.0/24 stale']);
  });

  it('counts stale paths, so that a restart cannot double a limit', () => {
    const rib = filled('10.1.0.0/24', '10.2.0.0/24');
    rib.markStale();
    rib.apply(announce(['10.1.0.0/24', '10.2.0.0/24'], 9), 2);
    expect(rib.size).toBe(2);
    expect(rib.sizeOf(ipv4Unicast)).toBe(2);
  });
});
