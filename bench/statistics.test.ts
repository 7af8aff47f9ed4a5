import { describe, expect, it } from 'vitest';
import { ofFrr, sampled, summarize } from './statistics.ts';

describe('a summary', () => {
  it.each([
    { samples: [3], p50: 3, p99: 3 },
    { samples: [4, 2], p50: 3, p99: 4 },
    { samples: [9, 1, 2], p50: 2, p99: 9 },
    { samples: Array.from({ length: 200 }, (_, n) => n + 1), p50: 100.5, p99: 198 },
  ])('of $samples.length samples has a median of $p50', ({ samples, p50, p99 }) => {
    const [min, max] = [Math.min(...samples), Math.max(...samples)];
    expect(summarize(samples)).toEqual({ n: samples.length, min, p50, p99, max });
  });

  it('of nothing is none', () => {
    expect(summarize([])).toBeUndefined();
  });

  it('keeps the samples in their order when they are asked for', () => {
    expect(sampled([2.26, 1.14], 1)).toMatchObject({ n: 2, samples: [2.3, 1.1] });
  });
});

describe('the ratio to FRR', () => {
  it('is empty where there is none, and keeps a digit of a small one', () => {
    expect([ofFrr(1, 3), ofFrr(1, undefined), ofFrr(undefined, 1), ofFrr(1, 0), ofFrr(0.007, 1)]).toEqual([
      ...['0.33', '', '', ''],
      '0.007',
    ]);
  });
});
