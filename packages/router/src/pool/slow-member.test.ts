import { describe, expect, it } from 'vitest';
import { Bench, running, settings } from './testing/pool-bench.ts';

/** How a member comes to be used without a session that vouches for it. */
const ways: [string, () => Bench][] = [
  [
    'whose speaker process died',
    () => running('a', 'b').send({ type: 'stale', nextHop: 'a', reason: 'TCP closed' }),
  ],
  [
    'found in the kernel after a restart of the router',
    () =>
      new Bench({ initialHold: 0 })
        .send({ type: 'adopted', members: ['a', 'b'].map((nextHop) => ({ nextHop, weight: 256 })) })
        .announce('b')
        .probe('b', 'good', 2),
  ],
  [
    'in doubt since this host may have been deaf',
    () =>
      running('a', 'b').send({
        type: 'lost',
        window: 900,
        members: [{ nextHop: 'a', reason: 'BFD down', isDoubtful: true }],
      }),
  ],
];

describe.each(ways)('a member %s', (_what, begin) => {
  it('keeps its place, however often its connections are accepted and answered late', () => {
    const bench = begin().probe('a', 'slow', 2);
    expect(bench.weights()).toEqual({ a: 256, b: 256 });
    bench.probe('a', 'slow', 20);
    expect(bench.weights()).toEqual({ a: 1, b: 256 });
    expect(bench.state('a')).toMatch(/^stale: .*; health check fails: slow$/);
  });

  it('has its share back as soon as it answers in time', () => {
    const bench = begin().probe('a', 'slow', 5).probe('a', 'good', 2);
    expect(bench.weights()).toEqual({ a: 256, b: 256 });
  });

  it('is moved out when it stays slow as long as one with a session may, if enough others are good', () => {
    const bench = begin()
      .probe('a', 'slow', settings.fall)
      .wait(settings.evictAfter - 1);
    expect(bench.weights()).toEqual({ a: 1, b: 256 });
    expect(bench.wait(1).weights()).toEqual({ b: 256 });
    expect(bench.state('a')).toMatch(/health check fails for more than 15 s: slow$/);
  });

  it('is not moved out while the others are slow too', () => {
    const bench = begin();
    for (const nextHop of ['a', 'b']) bench.probe(nextHop, 'slow', settings.fall);
    expect(bench.wait(30_000).weights()).toEqual({ a: 256, b: 256 });
    bench.probe('b', 'good', settings.rise);
    expect(bench.wait(settings.evictAfter - 1).weights()).toEqual({ a: 1, b: 256 });
    expect(bench.wait(1).weights()).toEqual({ b: 256 });
  });

  it.each(['refused', 'soft', 'unreachable'] as const)(
    'is out after two probes in a row that are %s, as before',
    (verdict) => {
      expect(begin().probe('a', verdict, 1).weights()).toEqual({ a: 256, b: 256 });
      expect(begin().probe('a', verdict, 2).weights()).toEqual({ b: 256 });
      expect(begin().probe('a', 'slow', 1).probe('a', verdict, 2).weights()).toEqual({ b: 256 });
    },
  );
});

it('is in doubt no more once its host has accepted two connections in a row, and waits for its speaker', () => {
  const bench = ways[2]?.[1]() ?? new Bench();
  bench.probe('a', 'slow', 1);
  expect(bench.pool.isDoubtful).toBe(false);
  bench.probe('a', 'slow', 1);
  expect(bench.state('a')).toBe(
    'stale: BFD down, but its API server accepts connections: waiting for its speaker',
  );
  expect(bench.wait(settings.staleTime - 1).weights()).toEqual({ a: 256, b: 256 });
  expect(bench.wait(1).state('a')).toBe('out: BFD down');
});

it('is out no sooner than its time when all speakers died at once and all API servers are slow', () => {
  const bench = running('a', 'b', 'c');
  for (const nextHop of ['a', 'b', 'c']) bench.send({ type: 'stale', nextHop, reason: 'TCP closed' });
  for (const nextHop of ['a', 'b', 'c']) bench.probe(nextHop, 'slow', 10);
  expect(bench.wait(60_000).weights()).toEqual({ a: 256, b: 256, c: 256 });
});

it('is not let in by a slow answer: a new member has to pass', () => {
  const bench = running('a').announce('b').probe('b', 'slow', 10);
  expect(bench.weights()).toEqual({ a: 256 });
});
