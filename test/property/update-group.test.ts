import type {
  CodecContext,
  GroupLimits,
  Path,
  PathAttributes,
  PathSource,
  Prefix,
  ReflectorPeer,
} from '@bgp-lb/protocol';
import {
  AttributeTable,
  asn,
  ipv4Unicast,
  parseIpAddress,
  passedOnAttributes,
  RouteReflector,
  reflectionRefusal,
  routerId,
  selectPaths,
} from '@bgp-lb/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LaggingNeighbor } from './lagging-neighbor.ts';
import { attributesOf, modelKey, prefixOf } from './rib-arbitraries.ts';

const PEERS = 4;
const localAsn = asn(64512);
const identity = { localAsn, clusterId: routerId(99) };

/** The kinds of peers; of five peers some are of one kind, and in one group then. */
interface Kind {
  readonly isInternal: boolean;
  readonly isClient: boolean;
  readonly hasAddPath: boolean;
  readonly maxSendLength: number;
}

/** A route by its place in the small world of a run: what matters happens when two meet. */
interface Place {
  /** The peer that it comes from. */
  readonly at: number;
  readonly prefix: number;
  readonly pathId: number;
  readonly attributes: number;
}

type Step =
  | ({ readonly kind: 'learn' | 'lose' } & Place)
  | { readonly kind: 'up' | 'down' | 'refresh' | 'read'; readonly at: number }
  | { readonly kind: 'flush' };

const kinds: fc.Arbitrary<Kind> = fc.record({
  isInternal: fc.constantFrom(true, true, true, false),
  isClient: fc.constantFrom(true, true, false),
  hasAddPath: fc.boolean(),
  // Some sets fit in no message of 110 octets.
  maxSendLength: fc.constantFrom(4096, 4096, 110),
});

const at = fc.integer({ min: 1, max: PEERS });
const place = {
  at,
  prefix: fc.nat(3),
  pathId: fc.constantFrom(0, 0, 0, 7),
  attributes: fc.nat(2),
};
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 10, arbitrary: fc.record({ kind: fc.constant('learn' as const), ...place }) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('lose' as const), ...place }) },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('flush' as const) }) },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('read' as const), at }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('refresh' as const), at }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('up' as const, 'down' as const), at }) },
  ),
  { minLength: 20, maxLength: 120, size: 'max' },
);

/** What there is in the world of a run. */
interface World {
  readonly prefixes: readonly Prefix[];
  readonly attributes: readonly PathAttributes[];
}

const worlds: fc.Arbitrary<World> = fc.record({
  prefixes: fc.uniqueArray(prefixOf(ipv4Unicast), {
    minLength: 4,
    maxLength: 4,
    selector: (prefix) => modelKey(prefix, 0),
  }),
  attributes: fc.array(attributesOf(ipv4Unicast), { minLength: 3, maxLength: 3 }),
});

const limits = fc.record({
  routes: fc.constantFrom(1, 2, 3, 16_384),
  sets: fc.constantFrom(1, 2, 4096),
  octets: fc.constantFrom(0, 200, 4_000_000),
  withdrawn: fc.constantFrom(0, 0, 1024),
});

function sourceOf(host: number, { isInternal }: Kind): PathSource {
  const address = parseIpAddress(`10.0.0.${host}`);
  return {
    name: `m${host}`,
    address,
    routerId: routerId(host),
    asn: isInternal ? localAsn : asn(65001),
    isInternal,
  };
}

function contextOf({ isInternal, hasAddPath, maxSendLength }: Kind): CodecContext {
  const addPath = hasAddPath ? [ipv4Unicast] : [];
  return {
    asn4: true,
    isInternal,
    localAsn,
    // As the peer reads it: it is we who sent.
    peerAsn: localAsn,
    maxReceiveLength: 4096,
    maxSendLength,
    families: [ipv4Unicast],
    addPathReceive: addPath,
    addPathSend: addPath,
  };
}

/** The reflector, its neighbors, and beside it what each of them is to have, reckoned for it alone. */
class Net {
  readonly table = new AttributeTable();
  readonly neighbors = new Map<number, LaggingNeighbor>();
  readonly #kinds: readonly Kind[];
  readonly #reflector: RouteReflector;
  /** By prefix, source and path identifier: what was learned. */
  readonly #paths = new Map<string, Path>();
  /** As they were at the last flush. */
  #flushed: readonly Path[] = [];

  readonly #isCut: boolean;

  readonly #world: World;

  constructor(kinds: readonly Kind[], world: World, groupLimits: GroupLimits) {
    this.#kinds = kinds;
    this.#world = world;
    this.#isCut = groupLimits.routes < 99 || groupLimits.sets < 99;
    this.#reflector = new RouteReflector({ ...identity, table: this.table, groupLimits });
  }

  step(step: Step): void {
    switch (step.kind) {
      case 'learn':
        this.#learn(step.at, this.#prefix(step), step.pathId, step.attributes);
        return;
      case 'lose':
        this.#lose(step.at, this.#prefix(step), step.pathId);
        return;
      case 'flush':
        this.flush();
        return;
      case 'up':
        this.#up(step.at);
        return;
      case 'down':
        this.#down(step.at);
        return;
      case 'refresh':
        this.neighbors.get(step.at)?.refresh();
        return;
      case 'read':
        this.neighbors.get(step.at)?.read(1);
        return;
    }
  }

  flush(): void {
    for (const [host, neighbor] of this.neighbors) {
      neighbor.beforeFlush(this.#isCut || this.#kindOf(host).maxSendLength < 4096);
    }
    this.#reflector.flush();
    this.#flushed = [...this.#paths.values()];
  }

  /** Each reads all there is, and has what an Adj-RIB-Out of its own would have given. @returns how many routes that is */
  check(): number {
    let routes = 0;
    for (const [host, neighbor] of this.neighbors) {
      neighbor.read(9999);
      const { advertised, unsent } = neighbor.says();
      const expected = this.#wanted(host);
      for (const key of unsent) expect(expected.delete(key)).toBe(true);
      expect(neighbor.holds()).toEqual(expected);
      expect(advertised).toEqual([...expected.keys()].sort());
      routes += advertised.length;
    }
    return routes;
  }

  end(): void {
    for (const host of this.neighbors.keys()) this.#down(host);
    for (const { from, prefix, pathId } of this.#paths.values()) this.#lose(hostOf(from), prefix, pathId);
    this.flush();
  }

  #prefix(place: Place): Prefix {
    const prefix = this.#world.prefixes[place.prefix];
    if (prefix === undefined) throw new Error(`no prefix ${place.prefix}`);
    return prefix;
  }

  #kindOf(host: number): Kind {
    const kind = this.#kinds[host - 1];
    if (kind === undefined) throw new Error(`no peer ${host}`);
    return kind;
  }

  #peer(host: number): ReflectorPeer {
    const { isInternal, isClient } = this.#kindOf(host);
    return {
      name: `m${host}`,
      routerId: routerId(host),
      isInternal,
      isClient,
      context: contextOf(this.#kindOf(host)),
    };
  }

  #up(host: number): void {
    this.#down(host);
    const { context, ...peer } = this.#peer(host);
    const [member] = this.#reflector.addPeer({ ...peer, context });
    if (member === undefined) throw new Error('no family');
    const source = sourceOf(host, this.#kindOf(host));
    this.neighbors.set(host, new LaggingNeighbor(member, context, this.table, source));
    // What was learned before counts from now on for all others too.
    this.flush();
  }

  #down(host: number): void {
    this.#reflector.removePeer(`m${host}`);
    this.neighbors.get(host)?.end();
    this.neighbors.delete(host);
  }

  #learn(host: number, prefix: Prefix, pathId: number, set: number): void {
    const attributes = this.#world.attributes[set];
    if (attributes === undefined) throw new Error(`no attributes ${set}`);
    const from = sourceOf(host, this.#kindOf(host));
    const path = {
      prefix,
      pathId,
      attributes: this.table.intern(attributes),
      from,
      learnedAt: 0,
      isStale: false,
    };
    const key = `${modelKey(prefix, pathId)} ${host}`;
    const before = this.#paths.get(key);
    if (before?.attributes !== path.attributes) this.#apply(host, [path], []);
    if (before !== undefined) this.table.release(before.attributes);
    this.#paths.set(key, path);
  }

  #lose(host: number, prefix: Prefix, pathId: number): void {
    const key = `${modelKey(prefix, pathId)} ${host}`;
    const path = this.#paths.get(key);
    if (path === undefined) return;
    this.#paths.delete(key);
    this.#apply(host, [], [path]);
    this.table.release(path.attributes);
  }

  #apply(host: number, announced: readonly Path[], withdrawn: readonly Path[]): void {
    const { isClient } = this.#kindOf(host);
    this.#reflector.apply({ name: `m${host}`, isClient }, { announced, withdrawn, rejected: [] });
  }

  /** RFC 4456 and RFC 7911 for one peer: the best path, or all of them, unless it comes from there. */
  #wanted(host: number): Map<string, unknown> {
    const to = this.#peer(host);
    const hasAddPath = to.context.addPathSend.length > 0;
    const wanted = new Map<string, unknown>();
    for (const prefix of new Map(
      this.#flushed.map((path) => [modelKey(path.prefix, 0), path.prefix]),
    ).values()) {
      const paths = this.#flushed.filter((path) => modelKey(path.prefix, 0) === modelKey(prefix, 0));
      const usable = selectPaths(paths).paths.filter(
        ({ reason }) => reason !== 'same next hop as a better path',
      );
      for (const { path } of hasAddPath ? usable : usable.slice(0, 1)) {
        const { isClient } = this.#kindOf(hostOf(path.from));
        if (reflectionRefusal(path, { isClient }, to) !== undefined) continue;
        const pathId = hasAddPath ? this.#reflector.pathId(path) : 0;
        wanted.set(modelKey(prefix, pathId), this.#theOne(passedOnAttributes(path, to.isInternal, identity)));
      }
    }
    return wanted;
  }

  /** The object that stands for a set, without a reference to it. */
  #theOne(attributes: PathAttributes): PathAttributes {
    const interned = this.table.intern(attributes);
    this.table.release(interned);
    return interned;
  }
}

function hostOf({ name }: PathSource): number {
  return Number(name.slice(1));
}

describe('peers in groups', () => {
  it('each have what an Adj-RIB-Out of their own would have given, whoever flaps, lags, joins late or asks again', () => {
    let routes = 0;
    const group = fc.array(kinds, { minLength: 2, maxLength: 2 });
    const all = fc.array(fc.integer({ min: 0, max: 1 }), { minLength: PEERS, maxLength: PEERS });
    fc.assert(
      fc.property(group, all, worlds, limits, steps, (twoKinds, which, world, given, list) => {
        const net = new Net(
          which.flatMap((n) => twoKinds[n] ?? []),
          world,
          given,
        );
        for (let host = 1; host < PEERS; host += 1) net.step({ kind: 'up', at: host });
        for (const step of list) net.step(step);
        net.flush();
        routes += net.check();
        net.end();
        expect(net.table.size).toBe(0);
      }),
      { numRuns: 600 },
    );
    expect(routes).toBeGreaterThan(1000);
  });
});
