import { describe, expect, it } from 'vitest';
import type { Transition } from './member-view.ts';
import { type Bench, running } from './testing/pool-bench.ts';

/** Leaves by a refused connection and is good again `down` ms later. */
function flap(bench: Bench, member: string, down = 0): Bench {
  return bench.probe(member, 'refused', 3).wait(down).probe(member, 'good', 2);
}

/** How long the member is held back from now on (ms); 0 when it is in already. */
function held(bench: Bench, member: string): number {
  const begin = bench.now;
  for (let i = 0; i < 20 && bench.weights()[member] !== 256; i++) {
    const { wakeAt } = bench.pool;
    if (wakeAt === undefined) {
      throw new Error(`${member} is out, and nothing is waited for: ${bench.state(member)}`);
    }
    bench.wait(wakeAt - bench.now);
  }
  return bench.now - begin;
}

describe('a member that keeps leaving', () => {
  it('is taken back at once the first time, and then after longer and longer', () => {
    const bench = running('a', 'b', 'c', 'd');
    const holds = Array.from({ length: 10 }, () => held(flap(bench, 'a'), 'a') / 1000);
    expect(holds).toEqual([0, 2, 4, 8, 16, 32, 64, 120, 120, 120]);
  });

  it('is forgiven an exit for each stretch of calm, in the pool or out of it', () => {
    const bench = running('a', 'b', 'c', 'd');
    for (let i = 0; i < 4; i++) {
      held(flap(bench, 'a'), 'a');
    }
    // Of four exits two are forgotten.
    bench.wait(600_000);
    expect(held(flap(bench, 'a'), 'a')).toBe(4000);
    expect(held(flap(bench, 'a', 3600_000), 'a')).toBe(0);
    expect(bench.pool.members()[0]).toMatchObject({ exits: 0 });
  });

  it('must have been good without a break, or waits anew', () => {
    const bench = flap(flap(running('a', 'b', 'c', 'd'), 'a'), 'a');
    bench.wait(1900).probe('a', 'refused', 3).wait(100).probe('a', 'good', 2);
    expect(bench.wait(1999).weights()['a']).toBeUndefined();
    expect(bench.wait(1).weights()['a']).toBe(256);
  });

  it.each<[string, (bench: Bench) => unknown]>([
    [
      'its path is withdrawn',
      (bench) =>
        bench.send({ type: 'withdrawn', nextHop: 'a', reason: 'Cease' }).announce('a').probe('a', 'good', 2),
    ],
    [
      'its host is dead',
      (bench) =>
        bench
          .send({ type: 'lost', members: [{ nextHop: 'a', reason: 'BFD down' }], window: 900 })
          .announce('a')
          .probe('a', 'good', 2),
    ],
    [
      'its cable is out',
      (bench) =>
        bench
          .send({ type: 'barrier', nextHop: 'a', barrier: 'link', reason: 'no carrier' })
          .send({ type: 'barrier', nextHop: 'a', barrier: 'link', reason: undefined })
          .probe('a', 'good', 2),
    ],
    ['its port is closed', (bench) => flap(bench, 'a')],
  ])('is held back when %s', (_, leave) => {
    const bench = running('a', 'b', 'c', 'd');
    leave(bench);
    expect(bench.weights()['a']).toBe(256);
    leave(bench);
    expect(bench.weights()).toEqual({ b: 256, c: 256, d: 256 });
    expect(bench.state('a')).toBe(
      'out: good again, held back until it has been so for 2 s: it left the pool, or lost its share, 2 times of late',
    );
    expect(bench.pool.members()[0]).toMatchObject({ exits: 2, heldUntil: bench.now + 2000 });
    expect(held(bench, 'a')).toBe(2000);
  });

  it('keeps weight 1 where its speaker or its health takes back its full share again and again', () => {
    const bench = running('a', 'b', 'c', 'd');
    const dip = (): Bench => bench.probe('a', 'soft', 3).probe('a', 'good', 2);
    dip();
    expect(bench.weights()['a']).toBe(256);
    dip();
    expect(bench.weights()['a']).toBe(1);
    expect(bench.state('a')).toContain('last-resort: good again, held back');
    expect(held(bench, 'a')).toBe(2000);
    // A last resort that then goes out altogether left once and not twice.
    bench.probe('a', 'soft', 3).wait(15_000).probe('a', 'good', 2);
    expect(held(bench, 'a')).toBe(4000);
  });

  it('is not held back for drains, which its operator asks for', () => {
    const bench = running('a', 'b', 'c', 'd');
    for (let i = 0; i < 5; i++) {
      bench.announce('a', 'draining').wait(5000);
      bench
        .send({ type: 'withdrawn', nextHop: 'a', reason: 'withdrawn' })
        .announce('a')
        .probe('a', 'good', 2);
      expect(bench.weights()['a']).toBe(256);
    }
  });

  it('keeps its place when only its session is lost, again and again', () => {
    const bench = running('a', 'b', 'c', 'd');
    for (let i = 0; i < 5; i++) {
      bench.send({ type: 'stale', nextHop: 'a', reason: 'TCP closed' }).probe('a', 'good', 1).announce('a');
      expect(bench.weights()['a']).toBe(256);
    }
  });
});

describe('damping and the others', () => {
  /** `flapping` members that have left three times each and are good again. */
  function shaky(all: readonly string[], flapping: readonly string[]): Bench {
    const bench = running(...all);
    for (let i = 0; i < 3; i++) {
      for (const member of flapping) {
        held(flap(bench, member), member);
      }
    }
    return bench;
  }

  it('holds back no more than the panic threshold allows, and lets the one in first that has waited longest', () => {
    const bench = shaky(['a', 'b', 'c', 'd'], ['a', 'b', 'c']);
    for (const member of ['b', 'a', 'c']) {
      flap(bench, member).wait(10);
    }
    expect(bench.weights()).toEqual({ b: 256, d: 256 });
    bench.send({ type: 'withdrawn', nextHop: 'd', reason: 'Cease' });
    expect(bench.weights()).toEqual({ a: 256, b: 256 });
  });

  it('lets a member in that is held back when the last of the others fails', () => {
    const bench = shaky(['a', 'b'], ['a']);
    flap(bench, 'a');
    expect(bench.weights()).toEqual({ b: 256 });
    expect(bench.probe('b', 'refused', 3).weights()).toEqual({ a: 256 });
    // And does not throw it out again for one that is back.
    bench.probe('b', 'good', 2);
    expect(bench.weights()).toEqual({ a: 256, b: 256 });
  });

  it('prefers a member that is held back to one that is only a last resort', () => {
    const bench = shaky(['a', 'b'], ['a']);
    flap(bench, 'a').announce('b', 'draining');
    expect(bench.weights()).toEqual({ a: 256, b: 1 });
  });

  it('holds nobody back in panic, or when the pool is empty', () => {
    const bench = shaky(['a', 'b'], ['a', 'b']);
    bench.probe('a', 'refused', 3).probe('b', 'refused', 3);
    expect(bench.weights()).toEqual({});
    bench.probe('a', 'good', 2).probe('b', 'good', 2);
    expect(bench.weights()).toEqual({ a: 256, b: 256 });
  });

  it('can be turned off', () => {
    const bench = running('a', 'b');
    const off = new (bench.constructor as typeof Bench)({ flapHold: 0, initialHold: 0 });
    for (const member of ['a', 'b']) {
      off.announce(member).probe(member, 'good', 2);
    }
    for (let i = 0; i < 10; i++) {
      expect(flap(off, 'a').weights()).toEqual({ a: 256, b: 256 });
    }
  });

  it('says once that it begins, without touching what is forwarded', () => {
    const bench = flap(running('a', 'b'), 'a').probe('a', 'refused', 3).probe('a', 'good', 1);
    const probe = { type: 'probed', nextHop: 'a', verdict: 'good', detail: 'good' } as const;
    const transitions: Transition[] = [
      bench.pool.handle(probe, bench.now),
      bench.pool.handle(probe, bench.now),
    ].flat();
    expect(transitions).toEqual([
      expect.objectContaining({ member: 'a', from: 'out', to: 'out', weight: 0, heldFor: 2000 }),
    ]);
    expect(bench.wait(2000).weights()).toEqual({ a: 256, b: 256 });
  });
});
