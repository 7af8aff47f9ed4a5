import { describe, expect, it } from 'vitest';
import { Bench } from './testing/pool-bench.ts';

const [OURS, NEXT, OTHER] = [0x1a2b3c4d, 0x2b3c4d5e, 0xdeadbeef];

/** A pool with a member of our cluster in use. */
function ours(identities: readonly number[] = []): Bench {
  return new Bench({ initialHold: 0, identities }).announce('a', 'active', [OURS]).probe('a', 'good', 2);
}

describe('the identity of the cluster', () => {
  it('is learned from the first member, and keeps members of another cluster out, with the reason', () => {
    const bench = ours().announce('x', 'active', [OTHER]).probe('x', 'good', 5);
    expect(bench.weights()).toEqual({ a: 256 });
    expect(bench.state('x')).toBe(
      'out: is of another cluster: its CA is deadbeef, that of this pool 1a2b3c4d',
    );
  });

  it('does not let a stranger count when it is judged whether too few are good', () => {
    const bench = ours().announce('b', 'active', [OURS]).probe('b', 'good', 2);
    bench.announce('x', 'active', [OTHER]).announce('y', 'active', [OTHER]);
    bench.probe('x', 'answered', 5).probe('y', 'answered', 5).probe('a', 'soft', 3);
    expect(bench.weights()).toEqual({ a: 1, b: 256 });
  });

  it('takes members that say nothing', () => {
    expect(ours().announce('frr').probe('frr', 'good', 2).weights()).toEqual({ a: 256, frr: 256 });
  });

  it('is followed through a rotation of the CA, and the old key is no passport after it', () => {
    const bench = ours().announce('b', 'active', [OURS, NEXT]).probe('b', 'good', 2);
    bench
      .announce('a', 'active', [OURS, NEXT])
      .announce('a', 'active', [NEXT])
      .announce('b', 'active', [NEXT]);
    expect(bench.weights()).toEqual({ a: 256, b: 256 });
    bench.announce('old', 'active', [OURS]).probe('old', 'good', 2);
    expect(bench.weights()).toEqual({ a: 256, b: 256 });
  });

  it('is kept while a member has a path, though nobody is in use', () => {
    const bench = ours().probe('a', 'refused', 3);
    bench.announce('x', 'active', [OTHER]).probe('x', 'good', 2);
    expect(bench.weights()).toEqual({});
  });

  it('is forgotten without members: the machines may be a new cluster', () => {
    const bench = ours().send({ type: 'withdrawn', nextHop: 'a', reason: 'reset' });
    bench.announce('x', 'active', [OTHER]).probe('x', 'good', 2);
    expect(bench.weights()).toEqual({ x: 256 });
  });

  it('is that of the most members when several wait for the first moment', () => {
    const bench = new Bench();
    bench.announce('a', 'active', [OTHER]).announce('b', 'active', [OURS]).announce('c', 'active', [OURS]);
    for (const member of ['a', 'b', 'c']) {
      bench.probe(member, 'good', 2);
    }
    expect(bench.wait(2000).weights()).toEqual({ b: 256, c: 256 });
  });

  it('is that of the configuration where it is there', () => {
    const bench = ours([OTHER]);
    expect(bench.weights()).toEqual({});
    expect(bench.announce('x', 'active', [OTHER]).probe('x', 'good', 2).weights()).toEqual({ x: 256 });
  });
});
