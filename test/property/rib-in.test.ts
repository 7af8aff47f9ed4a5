import type {
  DecodedUpdate,
  Family,
  Path,
  PathAttributes,
  PathSource,
  Prefix,
  RouteChange,
} from '@bgp-lb/protocol';
import {
  AdjRibIn,
  AttributeTable,
  asn,
  families,
  ipv4Unicast,
  NotificationError,
  parseIpAddress,
  prefix,
  routerId,
} from '@bgp-lb/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../kit/arbitraries.ts';
import { attributesOf, modelKey, prefixOf } from './rib-arbitraries.ts';

const source: PathSource = {
  name: 'peer',
  address: parseIpAddress('10.0.0.2'),
  routerId: routerId(2),
  asn: asn(65002),
  isInternal: false,
};

interface RouteName {
  readonly prefix: Prefix;
  readonly pathId: number;
}

type Step =
  | { readonly kind: 'update'; readonly update: DecodedUpdate }
  | { readonly kind: 'stale' | 'sweep' | 'clear'; readonly family: Family | undefined };

const routes = (family: Family): fc.Arbitrary<readonly RouteName[]> =>
  fc.array(fc.record({ prefix: prefixOf(family), pathId: fc.constantFrom(0, 0, 1, 0xffffffff) }), {
    maxLength: 6,
  });

/** Routes of IPv4 in the fields of RFC 4271, of IPv6 in the multiprotocol attributes. */
const updates: fc.Arbitrary<DecodedUpdate> = fc
  .constantFrom(...families)
  .chain((family) =>
    fc.record({
      family: fc.constant(family),
      withdrawn: routes(family),
      announced: routes(family),
      attributes: attributesOf(family),
      treatAsWithdraw: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.constant(true)),
    }),
  )
  .map(({ family, withdrawn, announced, attributes, treatAsWithdraw }) => {
    const isIpv4 = family === ipv4Unicast;
    const nextHop = { address: attributes.nextHop ?? source.address, linkLocal: undefined };
    return {
      type: 'UPDATE' as const,
      withdrawn: isIpv4 ? withdrawn : [],
      nlri: isIpv4 ? announced : [],
      attributes,
      mpReach: isIpv4 ? undefined : { family, nextHop, nlri: announced },
      mpUnreach: isIpv4 ? undefined : { family, nlri: withdrawn },
      treatAsWithdraw,
      faults: [],
    };
  });

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: updates.map((update) => ({ kind: 'update' as const, update })),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constantFrom('stale' as const, 'sweep' as const, 'clear' as const),
        family: fc.constantFrom(undefined, ...families),
      }),
    },
  ),
  { maxLength: 30 },
);

interface ModelPath {
  readonly attributes: PathAttributes;
  readonly family: Family;
  readonly isStale: boolean;
}

/** What the RFC says, by a plain Map: prefixes withdrawn and announced count as announced, the limit is checked before. */
class Model {
  readonly paths = new Map<string, ModelPath>();
  readonly #table: AttributeTable;

  constructor(table: AttributeTable) {
    this.#table = table;
  }

  /** False when the limit forbids it. */
  apply(update: DecodedUpdate, maxPaths: number): boolean {
    const { attributes, treatAsWithdraw, mpReach, mpUnreach } = update;
    const next = new Map(this.paths);
    const announced = [...update.nlri, ...(mpReach?.nlri ?? [])];
    for (const { prefix: gone, pathId } of [...update.withdrawn, ...(mpUnreach?.nlri ?? [])]) {
      next.delete(modelKey(gone, pathId ?? 0));
    }
    for (const { prefix: one, pathId } of announced) {
      const key = modelKey(one, pathId ?? 0);
      if (treatAsWithdraw || attributes === undefined) next.delete(key);
      else next.set(key, { attributes: this.#table.intern(attributes), family: one.family, isStale: false });
    }
    const family = announced[0]?.prefix.family ?? ipv4Unicast;
    const count = (paths: ReadonlyMap<string, ModelPath>): number =>
      [...paths.values()].filter((path) => path.family === family).length;
    if (count(next) > maxPaths && count(next) > count(this.paths)) return false;
    this.paths.clear();
    for (const [key, path] of next) this.paths.set(key, path);
    return true;
  }

  other({ kind, family }: Exclude<Step, { readonly kind: 'update' }>): void {
    for (const [key, path] of this.paths) {
      if (family !== undefined && path.family !== family) continue;
      if (kind === 'stale') this.paths.set(key, { ...path, isStale: true });
      else if (kind === 'clear' || path.isStale) this.paths.delete(key);
    }
  }
}

/** The table as a reader sees it that is told of changes only. */
function follow(seen: Map<string, PathAttributes>, { announced, withdrawn }: RouteChange): void {
  for (const path of withdrawn) seen.delete(modelKey(path.prefix, path.pathId));
  for (const path of announced) seen.set(modelKey(path.prefix, path.pathId), path.attributes);
}

interface Subject {
  readonly rib: AdjRibIn;
  readonly model: Model;
  readonly seen: Map<string, PathAttributes>;
  readonly maxPaths: number;
}

/** Does a step to both; false when it was refused by both. */
function take({ rib, model, seen, maxPaths }: Subject, step: Step): boolean {
  if (step.kind === 'update') {
    if (model.apply(step.update, maxPaths)) {
      follow(seen, rib.apply(step.update, 0));
      return true;
    }
    expect(() => rib.apply(step.update, 0)).toThrow(NotificationError);
    return false;
  }
  model.other(step);
  if (step.kind === 'stale') rib.markStale(step.family);
  else follow(seen, step.kind === 'clear' ? rib.clear(step.family) : rib.sweepStale(step.family));
  return true;
}

/** Compares all that can be seen. @returns how many paths there are */
function compare({ rib, model, seen }: Subject): number {
  const paths = [...rib.paths()];
  const held = new Map(paths.map((path) => [modelKey(path.prefix, path.pathId), path]));
  const shown = ([key, { attributes, isStale }]: [string, ModelPath | Path]): unknown => [
    key,
    attributes,
    isStale,
  ];
  const order = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);
  expect([...held].sort(order).map(shown)).toEqual([...model.paths].sort(order).map(shown));
  expect(rib.size).toBe(held.size);
  expect(seen).toEqual(new Map([...held].map(([key, { attributes }]) => [key, attributes])));
  for (const path of paths) expect(rib.pathsOf(path.prefix)).toContainEqual(path);
  return held.size;
}

describe('AdjRibIn', () => {
  it('holds what a plain table would, tells every change of it, and gives all attributes back', () => {
    let refused = 0;
    let most = 0;
    fc.assert(
      fc.property(steps, fc.constantFrom(4, 1000), fc.integer(), (list, maxPaths, hashSeed) => {
        const table = new AttributeTable();
        const rib = new AdjRibIn({ table, source, maxPaths, hashSeed });
        const subject = { rib, maxPaths, model: new Model(new AttributeTable()), seen: new Map() };
        for (const step of list) {
          if (!take(subject, step)) refused += 1;
          most = Math.max(most, compare(subject));
        }
        rib.clear();
        expect(table.size).toBe(0);
      }),
      propertyRuns(150),
    );
    expect(refused).toBeGreaterThan(20);
    expect(most).toBeGreaterThan(8);
  });

  it('finds every one of many prefixes, also after half of them are gone', () => {
    const table = new AttributeTable();
    const rib = new AdjRibIn({ table, source, hashSeed: 7 });
    const [attributes] = fc.sample(attributesOf(ipv4Unicast), { numRuns: 1, seed: 1 });
    if (attributes === undefined) throw new Error('no sample');
    const all = Array.from({ length: 20_000 }, (_, n) => ({
      prefix: prefix(ipv4Unicast, Uint8Array.of(10, n >> 12, (n >> 4) & 255, (n & 15) << 4), 28),
      pathId: undefined,
    }));
    const update = (part: Partial<DecodedUpdate>): DecodedUpdate => ({
      ...{ type: 'UPDATE', withdrawn: [], nlri: [], attributes, mpReach: undefined, mpUnreach: undefined },
      ...{ faults: [], treatAsWithdraw: false },
      ...part,
    });
    rib.apply(update({ nlri: all }), 0);
    expect(rib.size).toBe(all.length);
    rib.apply(update({ withdrawn: all.filter((_, n) => n % 2 === 0) }), 0);
    expect(rib.size).toBe(all.length / 2);
    expect(all.filter(({ prefix: each }, n) => rib.pathsOf(each).length !== n % 2)).toEqual([]);
    rib.apply(update({ nlri: all }), 0);
    expect(new Set([...rib.paths()].map((path) => modelKey(path.prefix, 0))).size).toBe(all.length);
  });
});
