import { describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import { parseIpAddress } from '../types/ip-address.ts';
import { parsePrefix } from '../types/prefix.ts';
import { parseRouterId } from '../types/router-id.ts';
import type { AsPathSegment, PathAttributes } from '../wire/path-attributes.ts';
import { Origin, pathAttributes, SegmentType } from '../wire/path-attributes.ts';
import type { DecisionOptions, DecisionReason } from './decision.ts';
import { decide } from './decision.ts';
import type { Path } from './path.ts';

interface PathFields {
  readonly name: string;
  readonly attributes?: Partial<PathAttributes>;
  readonly peer?: string;
  readonly id?: string;
  readonly asn?: number;
  readonly internal?: boolean;
  readonly pathId?: number;
}

function sequence(...asns: readonly number[]): AsPathSegment {
  return { type: SegmentType.AsSequence, asns: asns.map(asn) };
}

function set(...asns: readonly number[]): AsPathSegment {
  return { type: SegmentType.AsSet, asns: asns.map(asn) };
}

function path(fields: PathFields): Path {
  const { peer = '10.0.0.1', id = '10.0.0.1', internal = false } = fields;
  return {
    prefix: parsePrefix('192.0.2.0/24'),
    pathId: fields.pathId ?? 0,
    attributes: pathAttributes({
      origin: Origin.Igp,
      asPath: [sequence(65001, 65100)],
      nextHop: parseIpAddress(peer),
      ...fields.attributes,
    }),
    from: {
      name: fields.name,
      address: parseIpAddress(peer),
      routerId: parseRouterId(id),
      asn: asn(fields.asn ?? (internal ? 64512 : 65001)),
      isInternal: internal,
    },
    learnedAt: 0,
    isStale: false,
  };
}

function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map((rest) => [item, ...rest]));
}

/** The ranking by name, asserted to be the same for every order of arrival. */
function ranking(fields: readonly PathFields[], options?: DecisionOptions): readonly string[] {
  const outcomes = permutations(fields.map(path)).map((paths) => {
    const decision = decide(paths, options);
    expect(decision.best).toBe(decision.ranking[0]?.reason === 'best' ? decision.ranking[0].path : undefined);
    return decision.ranking.map(({ path: { from }, reason }) => `${from.name}: ${reason}`);
  });
  for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0]);
  return outcomes[0] ?? [];
}

describe('decide', () => {
  it('finds no best path among none', () => {
    expect(decide([])).toEqual({ best: undefined, ranking: [] });
  });

  it.each<[string, DecisionReason, Partial<PathFields>, Partial<PathFields>]>([
    [
      'higher LOCAL_PREF, even with a longer AS_PATH',
      'lower LOCAL_PREF',
      { attributes: { localPref: 101, asPath: [sequence(65001, 65002, 65003)] } },
      { attributes: { localPref: 100 } },
    ],
    [
      'no LOCAL_PREF, which counts as 100, over 99',
      'lower LOCAL_PREF',
      { attributes: {} },
      { attributes: { localPref: 99 } },
    ],
    [
      'the shorter AS_PATH, even with a higher ORIGIN',
      'longer AS_PATH',
      { attributes: { asPath: [sequence(65001)], origin: Origin.Incomplete } },
      { attributes: { asPath: [sequence(65001, 65002)] } },
    ],
    [
      'an AS_SET of three, which counts as one AS',
      'longer AS_PATH',
      { attributes: { asPath: [sequence(65001), set(65002, 65003, 65004)] } },
      { attributes: { asPath: [sequence(65001, 65002, 65003)] } },
    ],
    [
      'confederation segments, which count as none',
      'longer AS_PATH',
      {
        attributes: {
          asPath: [
            { type: SegmentType.AsConfedSequence, asns: [asn(65501), asn(65502)] },
            { type: SegmentType.AsConfedSet, asns: [asn(65503)] },
            sequence(65001),
          ],
        },
      },
      { attributes: { asPath: [sequence(65001, 65002)] } },
    ],
    [
      'the lower ORIGIN, even with a higher MED',
      'higher ORIGIN',
      { attributes: { origin: Origin.Igp, multiExitDisc: 9 } },
      { attributes: { origin: Origin.Egp } },
    ],
    [
      'the lower MED of one neighboring AS, even when internal',
      'higher MULTI_EXIT_DISC',
      { attributes: { multiExitDisc: 1 }, internal: true },
      { attributes: { multiExitDisc: 2 } },
    ],
    [
      'no MED, which counts as 0',
      'higher MULTI_EXIT_DISC',
      { attributes: {} },
      { attributes: { multiExitDisc: 1 } },
    ],
    [
      'the external one, even with a higher identifier',
      'internal loses to external',
      { id: '10.0.0.9' },
      { internal: true },
    ],
    ['the lower BGP Identifier', 'higher BGP Identifier', { id: '10.0.0.1' }, { id: '10.0.0.2' }],
    [
      'a BGP Identifier as an unsigned number',
      'higher BGP Identifier',
      { id: '127.0.0.1' },
      { id: '200.0.0.1' },
    ],
    [
      'the lower ORIGINATOR_ID, which replaces the identifier (RFC 4456 section 9)',
      'higher BGP Identifier',
      { id: '10.0.0.9', attributes: { originatorId: parseRouterId('10.0.0.1') } },
      { id: '10.0.0.2' },
    ],
    [
      'the shorter CLUSTER_LIST (RFC 4456 section 9), even from a higher address',
      'longer CLUSTER_LIST',
      { peer: '10.0.0.9' },
      { attributes: { clusterList: [parseRouterId('1.1.1.1')] } },
    ],
    [
      'the lower peer address, as a number',
      'higher peer address',
      { peer: '10.0.0.9' },
      { peer: '10.0.0.10' },
    ],
    ['the lower path identifier of one peer', 'higher path identifier', { pathId: 1 }, { pathId: 2 }],
  ])('prefers %s', (_, reason, winner, loser) => {
    expect(
      ranking([
        { name: 'winner', ...winner },
        { name: 'loser', ...loser },
      ]),
    ).toEqual(['winner: best', `loser: ${reason}`]);
  });

  it('compares MED only inside one neighboring AS', () => {
    const order = ranking([
      { name: 'a', attributes: { asPath: [sequence(65001)], multiExitDisc: 9 }, id: '10.0.0.1' },
      { name: 'b', asn: 65002, attributes: { asPath: [sequence(65002)], multiExitDisc: 1 }, id: '10.0.0.2' },
    ]);
    expect(order).toEqual(['a: best', 'b: higher BGP Identifier']);
  });

  it('gives the same answer for every arrival order of the paths that make pairwise MED comparison go round', () => {
    // a beats b by identifier, b beats c by identifier, c beats a by MED.
    const order = ranking([
      { name: 'a', attributes: { asPath: [sequence(65001)], multiExitDisc: 9 }, id: '10.0.0.1' },
      { name: 'b', asn: 65002, attributes: { asPath: [sequence(65002)] }, id: '10.0.0.2' },
      { name: 'c', attributes: { asPath: [sequence(65001)], multiExitDisc: 1 }, id: '10.0.0.3' },
    ]);
    expect(order).toEqual(['b: best', 'c: higher BGP Identifier', 'a: higher MULTI_EXIT_DISC']);
  });

  it('takes our own AS as the neighbor of internal paths with an empty AS_PATH', () => {
    const local = { internal: true, attributes: { asPath: [], multiExitDisc: 0 } };
    const order = ranking([
      { name: 'a', ...local, attributes: { ...local.attributes, multiExitDisc: 5 }, id: '10.0.0.1' },
      { name: 'b', ...local, id: '10.0.0.2' },
    ]);
    expect(order).toEqual(['b: best', 'a: higher MULTI_EXIT_DISC']);
  });

  it('prefers the lower interior cost, before the identifier', () => {
    const fields = [
      { name: 'near', id: '10.0.0.9' },
      { name: 'far', id: '10.0.0.1' },
    ];
    const costs: Readonly<Record<string, number>> = { near: 1, far: 2 };
    expect(ranking(fields, { interiorCost: ({ from }) => costs[from.name] })).toEqual([
      'near: best',
      'far: higher interior cost',
    ]);
  });

  it('takes costs as equal when one is not known (RFC 4271 section 9.1.2.2 (e))', () => {
    const fields = [
      { name: 'known', id: '10.0.0.9' },
      { name: 'unknown', id: '10.0.0.1' },
    ];
    const options = { interiorCost: ({ from }: Path) => (from.name === 'known' ? 1 : undefined) };
    expect(ranking(fields, options)).toEqual(['unknown: best', 'known: higher BGP Identifier']);
  });

  it('leaves out paths whose next hop cannot be reached, and shows them last', () => {
    const fields = [
      { name: 'gone', attributes: { localPref: 500 }, peer: '10.0.0.3' },
      { name: 'also gone', peer: '10.0.0.2' },
      { name: 'here', id: '10.0.0.9' },
    ];
    const options = { isReachable: ({ from }: Path) => from.name === 'here' };
    expect(ranking(fields, options)).toEqual([
      'here: best',
      'also gone: next hop unreachable',
      'gone: next hop unreachable',
    ]);
    expect(decide(fields.slice(0, 2).map(path), options).best).toBeUndefined();
  });

  it('sees GRACEFUL_SHUTDOWN by nothing but its LOCAL_PREF', () => {
    const communities = [0xffff0000];
    expect(
      ranking([
        { name: 'drains', attributes: { communities, localPref: 0 }, id: '10.0.0.1' },
        { name: 'stays', id: '10.0.0.2' },
      ]),
    ).toEqual(['stays: best', 'drains: lower LOCAL_PREF']);
    expect(
      ranking([
        { name: 'marked', attributes: { communities }, id: '10.0.0.1' },
        { name: 'plain', id: '10.0.0.2' },
      ]),
    ).toEqual(['marked: best', 'plain: higher BGP Identifier']);
  });

  it('ranks the others as they would win without those before them, each with the step it lost at', () => {
    const order = ranking([
      { name: 'b', id: '10.0.0.2' },
      { name: 'a', id: '10.0.0.1' },
      { name: 'long', attributes: { asPath: [sequence(65001, 65002, 65003)] } },
      { name: 'low', attributes: { localPref: 1 } },
      { name: 'c', id: '10.0.0.3' },
    ]);
    expect(order).toEqual([
      'a: best',
      'b: higher BGP Identifier',
      'c: higher BGP Identifier',
      'long: longer AS_PATH',
      'low: lower LOCAL_PREF',
    ]);
  });
});
