import { describe, expect, it } from 'vitest';
import { type Bench, running } from './testing/pool-bench.ts';

const doubt = (bench: Bench, ...nextHops: readonly string[]): Bench =>
  bench.send({ type: 'doubts', doubts: new Map(nextHops.map((one) => [one, `no answers from ${one}`])) });

describe('a member that clients are not served by', () => {
  it('has the least weight while that is so, and says why', () => {
    const bench = running('a', 'b', 'c');
    expect(doubt(bench, 'b').weights()).toEqual({ a: 256, b: 1, c: 256 });
    const member = bench.pool.members().find(({ nextHop }) => nextHop === 'b');
    expect(member).toMatchObject({ state: 'last-resort', reason: 'no answers from b', health: 'passing' });
    expect(member?.gates.filter(({ pass }) => !pass)).toMatchObject([
      { name: 'clients', detail: 'no answers from b' },
    ]);
    expect(doubt(bench).weights()).toEqual({ a: 256, b: 256, c: 256 });
  });

  it('keeps its share where less than the panic threshold would be left, those doubted last first', () => {
    const bench = running('a', 'b', 'c');
    expect(doubt(bench, 'c', 'a', 'b').weights()).toEqual({ a: 256, b: 256, c: 1 });
    expect(doubt(running('a'), 'a').weights()).toEqual({ a: 256 });
    expect(doubt(running('a', 'b', 'c', 'd'), 'd', 'a', 'b').weights()).toEqual({
      a: 1,
      b: 256,
      c: 256,
      d: 1,
    });
  });

  it('has its share back when those that are left fail', () => {
    const bench = doubt(running('a', 'b', 'c'), 'b');
    bench.probe('a', 'refused', 3).probe('c', 'refused', 3);
    expect(bench.weights()['b']).toBe(256);
  });

  it('is not brought back by it from what is worse', () => {
    const bench = running('a', 'b', 'c').probe('b', 'refused', 3);
    expect(doubt(bench, 'b').weights()).toEqual({ a: 256, c: 256 });
    expect(bench.pool.members().find(({ nextHop }) => nextHop === 'b')?.reason).toContain('refused');
  });
});
