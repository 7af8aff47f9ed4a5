import { describe, expect, it } from 'vitest';
import { type Bench, running } from './testing/pool-bench.ts';

const text = 'drained here by the operator';

function drain(bench: Bench, nextHop: string, ms = 10_000, isForced = false): Bench {
  return bench.send({ type: 'operator', nextHop, drain: { until: bench.now + ms, isForced } });
}

const undrain = (bench: Bench, nextHop: string): Bench =>
  bench.send({ type: 'operator', nextHop, drain: undefined });

describe('a member that the operator drains', () => {
  it('keeps live connections for the time given, then gets nothing, then everything when that is over', () => {
    const bench = drain(running('a', 'b', 'c'), 'b');
    expect(bench.weights()).toEqual({ a: 256, b: 1, c: 256 });
    expect(bench.state('b')).toBe(`draining: ${text}`);
    bench.wait(9_999);
    expect(bench.weights()).toEqual({ a: 256, b: 1, c: 256 });
    bench.wait(1);
    expect(bench.weights()).toEqual({ a: 256, c: 256 });
    expect(bench.state('b')).toBe(`out: ${text}`);
    // It is not held back as one that failed.
    expect(undrain(bench, 'b').weights()).toEqual({ a: 256, b: 256, c: 256 });
  });

  it('stays out whatever its speaker says, and when it is new', () => {
    const bench = drain(running('a', 'b'), 'b', 0);
    expect(bench.weights()).toEqual({ a: 256 });
    bench.send({ type: 'withdrawn', nextHop: 'b', reason: 'withdrawn' });
    expect(bench.state('b')).toBe(`out: ${text}; withdrawn`);
    bench.announce('b').probe('b', 'good', 2).wait(60_000);
    expect(bench.weights()).toEqual({ a: 256 });
    drain(bench, 'new', 0).announce('new').probe('new', 'good', 2).wait(60_000);
    expect(bench.weights()).toEqual({ a: 256 });
  });

  it('was found in the kernel: it is drained on after a restart', () => {
    const bench = drain(running(), 'b', 5_000);
    const members = [
      { nextHop: 'a', weight: 256 },
      { nextHop: 'b', weight: 256 },
    ];
    bench.send({ type: 'adopted', members });
    expect(bench.weights()).toEqual({ a: 256, b: 1 });
    expect(bench.wait(5_000).weights()).toEqual({ a: 256 });
  });

  it('serves with the least weight while nobody else does, and only then', () => {
    const bench = drain(running('a', 'b'), 'b', 0);
    bench.send({ type: 'withdrawn', nextHop: 'a', reason: 'withdrawn' });
    expect(bench.weights()).toEqual({ b: 1 });
    expect(bench.state('b')).toBe(`draining: ${text}, and kept since nobody else serves`);
    bench.announce('a').probe('a', 'good', 2).wait(10_000);
    expect(bench.weights()).toEqual({ a: 256 });
  });

  it('may leave at once, and is not held back for it', () => {
    const bench = running('a', 'b');
    for (let times = 0; times < 3; times++) {
      expect(drain(bench, 'b', 0).weights()).toEqual({ a: 256 });
      expect(undrain(bench, 'b').weights()).toEqual({ a: 256, b: 256 });
    }
  });

  it('is out even so when that is forced', () => {
    const bench = drain(running('a'), 'a', 1_000, true);
    expect(bench.weights()).toEqual({ a: 1 });
    expect(bench.wait(1_000).weights()).toEqual({});
  });

  it('does not make the others look few: health is overruled by those in service alone', () => {
    const bench = drain(drain(running('a', 'b', 'c'), 'a', 0), 'b', 0);
    // c answers badly: it is the only one in service, so that it is kept.
    bench.probe('c', 'soft', 3).wait(20_000);
    expect(bench.weights()).toEqual({ c: 256 });
  });

  it('may be drained without force while another one is active, by all pools that it is in', () => {
    const bench = running('a', 'b');
    expect(bench.pool.needs('a')).toBe(false);
    drain(bench, 'b', 0);
    expect(bench.pool.needs('a')).toBe(true);
    expect(bench.pool.needs('b')).toBe(false);
    expect(undrain(bench, 'b').pool.needs('a')).toBe(false);
    bench.announce('b', 'last-resort');
    expect(bench.pool.needs('a')).toBe(true);
  });
});
