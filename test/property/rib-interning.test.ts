import { isDeepStrictEqual } from 'node:util';
import type { PathAttributes } from '@bgp-lb/protocol';
import { AttributeTable, encodeMessage, ipv4Unicast, pathAttributes, readMessage } from '@bgp-lb/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextAndMessage, presentOf } from '../kit/arbitraries.ts';
import { attributesOf } from './rib-arbitraries.ts';

/**
 * What two sets are compared by: communities of all kinds are sets, the Partial bit is one of attributes that are there, everything
 * else counts as it stands.
 */
function meaning(all: PathAttributes): object {
  const { communities, largeCommunities, extendedCommunities, partial, ...others } = all;
  return {
    ...others,
    partial: new Set(presentOf(partial ?? [], all)),
    communities: new Set(communities),
    large: new Set(largeCommunities?.map((c) => `${c.globalAdministrator}:${c.localData1}:${c.localData2}`)),
    extended: new Set(extendedCommunities?.map(({ bytes }) => bytes.join())),
  };
}

const attributes = attributesOf(ipv4Unicast);

/** Another set, or the same one with one field of another, so that near misses are common. */
const pair = fc
  .tuple(attributes, attributes, fc.nat({ max: 14 }), fc.boolean())
  .map(([a, b, field, whole]) => {
    if (whole) return [a, b] as const;
    const name = Object.keys(a).toSorted()[field];
    return [a, { ...a, ...Object.fromEntries(Object.entries(b).filter(([key]) => key === name)) }] as const;
  });

describe('AttributeTable', () => {
  it('has one object for two sets if and only if they mean the same', () => {
    let equal = 0;
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const table = new AttributeTable();
        const isSame = isDeepStrictEqual(meaning(a), meaning(b));
        if (isSame) equal += 1;
        expect(table.intern(a) === table.intern(b)).toBe(isSame);
        expect(table.size).toBe(isSame ? 1 : 2);
      }),
      { numRuns: 2000 },
    );
    expect(equal).toBeGreaterThan(50);
  });

  it('changes no meaning', () => {
    fc.assert(
      fc.property(attributes, (a) => {
        expect(meaning(new AttributeTable().intern(a))).toEqual(meaning(a));
      }),
    );
  });

  it('makes of remembered octets what was read from them', () => {
    let remembered = 0;
    fc.assert(
      fc.property(contextAndMessage, ([context, message]) => {
        const bytes = encodeMessage(message, context);
        const table = new AttributeTable();
        const update = readMessage({ type: bytes[18] ?? 0, bytes }, context, table);
        if (update.type !== 'UPDATE' || update.attributes === undefined || update.field === undefined) return;
        remembered += 1;
        const number = table.hold(update.attributes, update.field);
        const other = table.hold(pathAttributes({ multiExitDisc: 4_000_000_000 }));
        // Of the octets, since another set was new after it.
        const made = table.at(number);
        expect(made).toEqual(new AttributeTable().intern(update.attributes));
        expect(table.intern(update.attributes)).toBe(made);
        expect(table.recall(update.field)).toBe(update.field.octets.length > 512 ? -1 : number);
        for (const held of [number, number, other]) table.releaseNumber(held);
        expect([table.size, table.recall(update.field)]).toEqual([0, -1]);
      }),
      { numRuns: 1000 },
    );
    expect(remembered).toBeGreaterThan(50);
  });

  it('is empty when as much was released as interned, in any order', () => {
    const steps = fc.array(fc.tuple(attributes, fc.nat()), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(steps, (sets) => {
        const table = new AttributeTable();
        const held = sets.map(([set]) => table.intern(set));
        expect(table.size).toBe(new Set(held).size);
        const order = held
          .map((set, i) => ({ set, rank: sets[i]?.[1] ?? 0 }))
          .toSorted((x, y) => x.rank - y.rank);
        for (const { set } of order) table.release(set);
        expect(table.size).toBe(0);
      }),
    );
  });
});
