import type {
  DecodedUpdate,
  Path,
  PathAttributes,
  PathSource,
  Prefix,
  PrefixKey,
  RouteChange,
} from '@bgp-lb/protocol';
import {
  AdjRibIn,
  AttributeTable,
  asn,
  compareIpAddress,
  decide,
  ipv4Unicast,
  parseIpAddress,
  prefixKey,
  routerId,
  SegmentType,
} from '@bgp-lb/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attributesOf, prefixOf } from './rib-arbitraries.ts';

const sources: readonly PathSource[] = [1, 2, 3, 4].map((n) => ({
  name: `peer-${n}`,
  address: parseIpAddress(`10.0.0.${n}`),
  routerId: routerId(5 - n),
  asn: asn(n < 3 ? 64512 : 65000 + n),
  isInternal: n < 3,
}));

type Event =
  | { kind: 'announce'; peer: number; prefix: Prefix; pathId: number; attributes: PathAttributes }
  | { kind: 'withdraw'; peer: number; prefix: Prefix; pathId: number }
  | { kind: 'stale' | 'sweep' | 'clear'; peer: number };

const peer = fc.nat({ max: sources.length - 1 });
const pathId = fc.constantFrom(0, 1);
const prefix = prefixOf(ipv4Unicast);
const announcement = fc.record({
  kind: fc.constant('announce' as const),
  peer,
  prefix,
  pathId,
  attributes: attributesOf(ipv4Unicast),
});
const events: fc.Arbitrary<readonly Event[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: announcement },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('withdraw' as const), peer, prefix, pathId }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('stale', 'sweep', 'clear'), peer }) },
  ),
  { maxLength: 60 },
);

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

const nothing: RouteChange = { announced: [], withdrawn: [], rejected: [] };

function play(rib: AdjRibIn, event: Event): RouteChange {
  switch (event.kind) {
    case 'announce':
      return rib.apply(update({ attributes: event.attributes, nlri: [event] }), 0);
    case 'withdraw':
      return rib.apply(update({ withdrawn: [event] }), 0);
    case 'stale':
      rib.markStale();
      return nothing;
    case 'sweep':
      return rib.sweepStale();
    case 'clear':
      return rib.clear();
  }
}

function asPathLength({ attributes: { asPath } }: Path): number {
  return (asPath ?? []).reduce(
    (sum, { type, asns }) => sum + (type === SegmentType.AsSet ? 1 : asns.length),
    0,
  );
}

function neighbor({ attributes: { asPath }, from }: Path): number {
  const first = asPath?.[0];
  return first?.type === SegmentType.AsSequence ? (first.asns[0] ?? from.asn) : from.asn;
}

/** The removal procedure as RFC 4271 section 9.1.2.2 and RFC 4456 section 9 write it: who is worse than any other one goes. */
const worse: readonly ((m: Path, n: Path) => boolean)[] = [
  (m, n) => (n.attributes.localPref ?? 100) > (m.attributes.localPref ?? 100),
  (m, n) => asPathLength(n) < asPathLength(m),
  (m, n) => (n.attributes.origin ?? 2) < (m.attributes.origin ?? 2),
  (m, n) =>
    neighbor(m) === neighbor(n) && (n.attributes.multiExitDisc ?? 0) < (m.attributes.multiExitDisc ?? 0),
  (m, n) => m.from.isInternal && !n.from.isInternal,
  (m, n) => (n.attributes.originatorId ?? n.from.routerId) < (m.attributes.originatorId ?? m.from.routerId),
  (m, n) => (n.attributes.clusterList?.length ?? 0) < (m.attributes.clusterList?.length ?? 0),
  (m, n) => compareIpAddress(n.from.address, m.from.address) < 0,
  (m, n) => n.pathId < m.pathId,
];

function referenceBest(paths: readonly Path[]): Path | undefined {
  const left = worse.reduce((some, isWorse) => some.filter((m) => !some.some((n) => isWorse(m, n))), paths);
  expect(left.length).toBeLessThanOrEqual(1);
  return left[0];
}

function ribOf(ribs: readonly AdjRibIn[], index: number): AdjRibIn {
  const rib = ribs[index];
  if (rib === undefined) throw new Error(`no peer ${index}`);
  return rib;
}

/** The best path of each prefix, kept by nothing but what the Adj-RIBs-In say has changed. */
function followChanges(ribs: readonly AdjRibIn[], list: readonly Event[]): ReadonlyMap<PrefixKey, Path> {
  const best = new Map<PrefixKey, Path>();
  for (const event of list) {
    const { announced, withdrawn, refreshed = [] } = play(ribOf(ribs, event.peer), event);
    for (const { prefix: changed } of [...announced, ...withdrawn, ...refreshed]) {
      const winner = decide(ribs.flatMap((rib) => rib.pathsOf(changed))).best;
      if (winner === undefined) best.delete(prefixKey(changed));
      else best.set(prefixKey(changed), winner);
    }
  }
  return best;
}

function byPrefix(ribs: readonly AdjRibIn[]): ReadonlyMap<PrefixKey, readonly Path[]> {
  const groups = new Map<PrefixKey, Path[]>();
  for (const path of ribs.flatMap((rib) => [...rib.paths()])) {
    const key = prefixKey(path.prefix);
    groups.set(key, [...(groups.get(key) ?? []), path]);
  }
  return groups;
}

function identity(path: Path | undefined): readonly unknown[] {
  return [path?.from.name, path?.pathId, path?.attributes];
}

describe('the decision process', () => {
  it('has the same best path when it follows the changes as when it looks at all paths anew', () => {
    fc.assert(
      fc.property(events, (list) => {
        const table = new AttributeTable();
        const ribs = sources.map((source) => new AdjRibIn({ table, source }));
        const best = followChanges(ribs, list);
        const all = byPrefix(ribs);
        expect(new Set(best.keys())).toEqual(new Set(all.keys()));
        for (const [key, paths] of all) {
          const expected = referenceBest(paths);
          expect(identity(best.get(key))).toEqual(identity(expected));
          expect(best.get(key)?.attributes).toBe(expected?.attributes);
        }
        for (const rib of ribs) rib.clear();
        expect(table.size).toBe(0);
      }),
      { numRuns: 400 },
    );
  });

  it('ranks the same in every order of arrival, and each rank is best among those after it', () => {
    const given = fc.uniqueArray(announcement, { maxLength: 7, selector: (a) => a.peer * 2 + a.pathId });
    fc.assert(
      fc.property(given, fc.infiniteStream(fc.nat()), (list, random) => {
        const paths = list.map(({ peer: n, prefix: p, pathId: id, attributes }): Path => {
          const from = sources[n];
          if (from === undefined) throw new Error('no such peer');
          return { prefix: p, pathId: id, attributes, from, learnedAt: 0, isStale: false };
        });
        const shuffled = paths
          .map((path) => ({ path, rank: random.next().value }))
          .toSorted((a, b) => a.rank - b.rank);
        const { ranking, best } = decide(paths);
        expect(decide(shuffled.map(({ path }) => path)).ranking).toEqual(ranking);
        expect(ranking[0]?.path).toBe(best);
        for (const [i, { path }] of ranking.entries()) {
          expect(path).toBe(referenceBest(ranking.slice(i).map((ranked) => ranked.path)));
        }
      }),
      { numRuns: 500 },
    );
  });
});
