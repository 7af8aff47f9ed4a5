import type {
  CodecContext,
  Family,
  PathAttributes,
  PathSource,
  Prefix,
  Route,
  UpdateMessage,
} from '@bgp-lb/protocol';
import {
  AdjRibIn,
  AdjRibOut,
  AttributeTable,
  asn,
  decodeMessage,
  encodeMessage,
  Framer,
  families,
  ipv4Unicast,
  ipv6Unicast,
  parseIpAddress,
  routerId,
} from '@bgp-lb/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attributesOf, modelKey, prefixOf } from './rib-arbitraries.ts';

const source: PathSource = {
  name: 'us',
  address: parseIpAddress('10.0.0.10'),
  routerId: routerId(10),
  asn: asn(64512),
  isInternal: true,
};

const contexts: fc.Arbitrary<CodecContext> = fc
  .record({
    families: fc.constantFrom(families, [ipv4Unicast], [ipv6Unicast]),
    addPath: fc.constantFrom(families, [], [ipv4Unicast]),
    // 90 to 200 octets make messages of a few routes, so that packing has something to do; some sets fit in none.
    maxSendLength: fc.oneof(fc.constant(4096), fc.integer({ min: 90, max: 200 })),
  })
  .map(({ families: negotiated, addPath, maxSendLength }) => ({
    asn4: true,
    isInternal: true,
    localAsn: asn(64512),
    peerAsn: asn(64512),
    maxReceiveLength: 4096,
    maxSendLength,
    families: negotiated,
    addPathReceive: addPath.filter((family) => negotiated.includes(family)),
    addPathSend: addPath.filter((family) => negotiated.includes(family)),
  }));

function routesOf(family: Family): fc.Arbitrary<readonly Route[]> {
  return fc.uniqueArray(
    fc.record({
      prefix: prefixOf(family),
      attributes: attributesOf(family),
      pathId: fc.constantFrom(0, 1, 0xffffffff),
    }),
    { maxLength: 12, selector: ({ prefix, pathId }) => modelKey(prefix, pathId) },
  );
}

type Step =
  | { readonly kind: 'set'; readonly family: Family; readonly routes: readonly Route[] }
  | {
      readonly kind: 'change';
      readonly family: Family;
      readonly routes: readonly Route[];
      readonly gone: readonly Route[];
    }
  | { readonly kind: 'flush' }
  | { readonly kind: 'refresh'; readonly family: Family }
  | { readonly kind: 'session'; readonly context: CodecContext };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    ...families.map((family) => ({
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('set' as const),
        family: fc.constant(family),
        routes: routesOf(family),
      }),
    })),
    ...families.map((family) => ({
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('change' as const),
        family: fc.constant(family),
        routes: routesOf(family),
        gone: routesOf(family),
      }),
    })),
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('flush' as const) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('refresh' as const), family: fc.constantFrom(...families) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('session' as const), context: contexts }) },
  ),
  { maxLength: 25 },
);

/** The peer: it gets octets, reads them with the codec, and keeps an Adj-RIB-In. */
class SimulatedPeer {
  readonly #table: AttributeTable;
  readonly #context: CodecContext;
  readonly #rib: AdjRibIn;

  constructor(table: AttributeTable, context: CodecContext) {
    this.#table = table;
    this.#context = context;
    this.#rib = new AdjRibIn({ table: this.#table, source });
  }

  receive(messages: readonly UpdateMessage[]): void {
    const framer = new Framer(this.#context.maxReceiveLength);
    for (const message of messages) {
      const octets = encodeMessage(message, this.#context);
      expect(octets.length).toBeLessThanOrEqual(this.#context.maxSendLength);
      framer.push(octets);
      const frame = framer.next();
      if (frame === undefined) throw new Error('half a message');
      const decoded = decodeMessage(frame, this.#context);
      if (decoded.type !== 'UPDATE') throw new Error(`${decoded.type} instead of an UPDATE`);
      expect(decoded.faults).toEqual([]);
      this.#rib.apply(decoded, 0);
    }
  }

  /** Gives back what it holds. */
  forget(): void {
    this.#rib.clear();
  }

  /** What it holds, with the identity of the attributes. */
  holds(): ReadonlyMap<string, unknown> {
    return new Map(
      [...this.#rib.paths()].map(({ prefix, pathId, attributes }) => [modelKey(prefix, pathId), attributes]),
    );
  }
}

/** What the peer should hold: of the wanted routes those of its families, without what was reported as unsent. */
function expectedOf(
  rib: AdjRibOut,
  table: AttributeTable,
  context: CodecContext,
): ReadonlyMap<string, unknown> {
  const unsent = new Set(rib.unsent.map(({ route }) => modelKey(route.prefix, route.pathId ?? 0)));
  const wireId = (prefix: Prefix, pathId: number): number =>
    context.addPathSend.includes(prefix.family) ? pathId : 0;
  const wanted = context.families
    .flatMap((family) => rib.wanted(family))
    .filter(({ prefix, pathId = 0 }) => !unsent.has(modelKey(prefix, pathId)));
  return new Map(
    wanted.map(({ prefix, pathId = 0, attributes }) => [
      modelKey(prefix, wireId(prefix, pathId)),
      theOne(table, attributes),
    ]),
  );
}

/** The object that stands for a set, without a reference to it. */
function theOne(table: AttributeTable, attributes: PathAttributes): PathAttributes {
  const interned = table.intern(attributes);
  table.release(interned);
  return interned;
}

/** What a step wants of the Adj-RIB-Out, where it wants anything. */
function request(rib: AdjRibOut, step: Step): void {
  if (step.kind === 'set') rib.set(step.family, step.routes);
  if (step.kind === 'refresh') rib.refresh(step.family);
  if (step.kind !== 'change') return;
  const withdrawn = step.gone.map(({ prefix, pathId = 0 }) => ({ prefix, pathId }));
  rib.change(step.family, step.routes, withdrawn);
}

describe('AdjRibOut', () => {
  it('leaves the peer with exactly the wanted routes, whatever was set, flushed, refreshed or reconnected', () => {
    let announced = 0;
    let unsent = 0;
    fc.assert(
      fc.property(contexts, steps, (first, list) => {
        const table = new AttributeTable();
        const rib = new AdjRibOut(table);
        let context = first;
        let peer = new SimulatedPeer(table, context);
        const peers = [peer];
        for (const step of [...list, { kind: 'flush' } as const]) {
          request(rib, step);
          if (step.kind === 'session') {
            context = step.context;
            peer = new SimulatedPeer(table, context);
            peers.push(peer);
            rib.reset();
          }
          if (step.kind !== 'flush') continue;
          peer.receive(rib.flush(context));
          expect(peer.holds()).toEqual(expectedOf(rib, table, context));
          expect(rib.flush(context)).toEqual([]);
          announced += peer.holds().size;
          unsent += rib.unsent.length;
        }
        // Every reference is given back: nothing is left when nothing is wanted and the session is over.
        for (const family of families) rib.set(family, []);
        rib.reset();
        for (const one of peers) one.forget();
        expect(table.size).toBe(0);
      }),
      { numRuns: 400 },
    );
    expect(announced).toBeGreaterThan(1000);
    expect(unsent).toBeGreaterThan(100);
  });

  it('says nothing to a peer that has what is wanted, and only the difference otherwise', () => {
    const context = contexts.map((c) => ({ ...c, families, addPathSend: families, maxSendLength: 4096 }));
    fc.assert(
      fc.property(context, routesOf(ipv4Unicast), routesOf(ipv4Unicast), (c, before, after) => {
        const table = new AttributeTable();
        const rib = new AdjRibOut(table);
        rib.set(ipv4Unicast, before);
        rib.flush(c);
        const had = new Map(
          before.map((r) => [modelKey(r.prefix, r.pathId ?? 0), table.intern(r.attributes)]),
        );
        rib.set(ipv4Unicast, after);
        const messages = rib.flush(c);
        const changed = after.filter(
          (r) => had.get(modelKey(r.prefix, r.pathId ?? 0)) !== table.intern(r.attributes),
        );
        const keys = new Set(after.map((r) => modelKey(r.prefix, r.pathId ?? 0)));
        const gone = [...had.keys()].filter((key) => !keys.has(key));
        expect(messages.flatMap(({ nlri }) => nlri)).toHaveLength(changed.length);
        expect(messages.flatMap(({ withdrawn }) => withdrawn)).toHaveLength(gone.length);
        const sets = new Set(changed.map((r) => table.intern(r.attributes)));
        expect(messages).toHaveLength(sets.size + (gone.length > 0 ? 1 : 0));
      }),
    );
  });
});
