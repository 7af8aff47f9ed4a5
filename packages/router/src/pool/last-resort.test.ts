import { describe, expect, it } from 'vitest';
import { Bench, running } from './testing/pool-bench.ts';

const settings = { initialHold: 0 } as const;

describe('a master that answers but has never been ready for us', () => {
  it('is used as a last resort when nobody is good and its speaker offers it as one', () => {
    const bench = new Bench(settings).announce('a', 'last-resort').announce('b', 'last-resort');
    bench.probe('a', 'answered', 2).probe('b', 'answered', 2);
    expect(bench.weights()).toEqual({ a: 1, b: 1 });
    // And is as good as any when it passes.
    bench.announce('a').probe('a', 'good', 2).wait(1000);
    expect(bench.weights()['a']).toBe(256);
  });

  it('is left out while others are good', () => {
    const bench = running('a', 'b').announce('c', 'last-resort').probe('c', 'answered', 5);
    expect(bench.weights()).toEqual({ a: 256, b: 256 });
  });

  it('is left out when it does not answer, or when its speaker calls it ready', () => {
    const bench = new Bench(settings).announce('a', 'last-resort').announce('b');
    bench.probe('a', 'soft', 5).probe('b', 'answered', 5);
    expect(bench.weights()).toEqual({});
  });

  it('is used again after a false alarm that took all out while every /readyz was red', () => {
    const bench = running('a').announce('a', 'last-resort').probe('a', 'answered', 3);
    bench.send({ type: 'withdrawn', nextHop: 'a', reason: 'BFD down' });
    expect(bench.weights()).toEqual({});
    bench.announce('a', 'last-resort').probe('a', 'answered', 2).wait(2_000);
    expect(bench.weights()).toEqual({ a: 1 });
  });
});
