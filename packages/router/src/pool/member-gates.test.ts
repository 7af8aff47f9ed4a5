import { describe, expect, it } from 'vitest';
import { Bench, down, running, settings } from './testing/pool-bench.ts';

/** The gates of a member that do not pass, with since when. */
function closed({ pool }: Bench, nextHop: string): Record<string, number> {
  const gates = pool.members().find((one) => one.nextHop === nextHop)?.gates ?? [];
  return Object.fromEntries(gates.filter(({ pass }) => !pass).map(({ name, since }) => [name, since]));
}

describe('the gates of a member', () => {
  it('are all open for one that has its full share, in one order', () => {
    const bench = running('a', 'b', 'c');
    expect(closed(bench, 'a')).toEqual({});
    expect(bench.pool.members()[0]?.gates.map(({ name }) => name)).toEqual([
      'session',
      'announcement',
      'link',
      'BFD',
      'cluster',
      'health check',
      'clients',
      'operator',
      'flap back-off',
      'initial hold',
    ]);
  });

  it.each<[string, (bench: Bench) => Bench, Record<string, number>]>([
    [
      'its session is down, by a Cease',
      (bench) =>
        bench
          .send({ type: 'withdrawn', nextHop: 'a', reason: 'Cease' })
          .send({ type: 'session', nextHop: 'a', name: 'a', session: down, reason: 'Cease' }),
      { session: 5000, announcement: 5000, 'health check': 5000 },
    ],
    [
      'its speaker process died: stale',
      (bench) => bench.send({ type: 'stale', nextHop: 'a', reason: 'the peer closed the TCP connection' }),
      { announcement: 5000 },
    ],
    ['its speaker asks for less', (bench) => bench.announce('a', 'draining'), { announcement: 5000 }],
    [
      'its link has no carrier',
      (bench) => bench.send({ type: 'barrier', nextHop: 'a', barrier: 'link', reason: 'no carrier on eth0' }),
      { link: 5000 },
    ],
    [
      'BFD is not Up, and must be',
      (bench) =>
        bench.send({ type: 'barrier', nextHop: 'a', barrier: 'bfd', reason: 'BFD is not Up (strict)' }),
      { BFD: 5000 },
    ],
    [
      'it is of another cluster',
      (bench) => bench.announce('b', 'active', [7]).announce('a', 'active', [8]),
      { cluster: 5000 },
    ],
    ['it fails its health check', (bench) => bench.probe('a', 'soft', 3), { 'health check': 5000 }],
    [
      'the operator drains it here',
      (bench) => bench.send({ type: 'operator', nextHop: 'a', drain: { until: 60_000, isForced: false } }),
      { operator: 5000 },
    ],
  ])('say since when: %s', (_what, happen, expected) => {
    const bench = running('a', 'b', 'c').wait(2000);
    happen(bench);
    expect(closed(bench, 'a')).toEqual(expected);
    expect(closed(bench, 'c')).toEqual({});
    // What goes on does not begin again.
    bench.wait(100).send({ type: 'tick' });
    expect(closed(bench, 'a')).toEqual(expected);
  });

  it('say since when a good member is held back, since it left too often', () => {
    const bench = running('a', 'b', 'c');
    for (let i = 0; i < 2; i++) {
      bench.send({ type: 'withdrawn', nextHop: 'a', reason: 'withdrawn' }).wait(100);
      bench.announce('a').probe('a', 'good', settings.rise);
    }
    expect(closed(bench, 'a')).toEqual({ 'flap back-off': bench.now });
    const [view] = bench.pool.members();
    expect(view?.gates.find(({ name }) => name === 'flap back-off')?.detail).toMatch(
      /2 times .* good for 2 s/,
    );
    bench.wait(settings.flapHold);
    expect(closed(bench, 'a')).toEqual({});
  });

  it('say since when an empty pool waits for others, and until when, and not of those that are not good', () => {
    const bench = new Bench();
    bench.announce('a').announce('b').wait(500).probe('a', 'good', settings.rise);
    const since = bench.now;
    bench.wait(100);
    expect(closed(bench, 'a')).toEqual({ 'initial hold': since });
    expect(Object.keys(closed(bench, 'b'))).toEqual(['health check']);
    expect(bench.pool.rules().initialHold).toEqual({ since, until: since + settings.initialHold });
    bench.wait(settings.initialHold);
    expect(closed(bench, 'a')).toEqual({});
    expect(bench.pool.rules().initialHold).toBeUndefined();
  });

  it('do not say that health is overruled: the pool does, since when', () => {
    const bench = running('a', 'b', 'c');
    bench.probe('a', 'soft', settings.fall);
    expect(bench.pool.rules().panicSince).toBeUndefined();
    bench.wait(100).probe('b', 'soft', settings.fall);
    const since = bench.now;
    bench.wait(100);
    expect(bench.pool.rules().panicSince).toBe(since);
    expect(bench.weights()).toEqual({ a: 256, b: 256, c: 256 });
    bench.probe('b', 'good', settings.rise);
    expect(bench.pool.rules().panicSince).toBeUndefined();
  });
});
