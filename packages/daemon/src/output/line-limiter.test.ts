import { beforeEach, describe, expect, it } from 'vitest';
import { LineLimiter, type SuppressedLines, suppressedText } from './line-limiter.ts';

let now: number;
let timers: { at: number; run: () => void }[];
let told: SuppressedLines[];
let limiter: LineLimiter;

const clock = {
  now: () => now,
  after(ms: number, run: () => void) {
    const timer = { at: now + ms, run };
    timers.push(timer);
    return () => {
      timers = timers.filter((one) => one !== timer);
    };
  },
};

beforeEach(() => {
  now = 1000;
  timers = [];
  told = [];
  limiter = new LineLimiter({ clock, suppressed: (lines) => void told.push(lines) });
});

function pass(ms: number): void {
  now += ms;
  for (const { run } of timers.filter(({ at }) => at <= now)) run();
}

/** How many of so many lines are written. */
function written(count: number, subject: (n: number) => string, kind = 'refused'): number {
  const limits = { perSubject: 3, perKind: 10 };
  return Array.from({ length: count }, (_, n) => limiter.admits(kind, subject(n), limits)).filter(Boolean)
    .length;
}

describe('lines of a kind', () => {
  it('are written a few times for each subject, and told of when the minute is over', () => {
    expect(written(100, () => 'a')).toBe(3);
    expect(written(5, () => 'b')).toBe(3);
    expect(told).toEqual([]);
    pass(60_000);
    expect(told).toEqual([{ kind: 'refused', count: 99, subject: 'a', ofSubject: 97, within: 60_000 }]);
    expect(written(100, () => 'a')).toBe(3);
  });

  it('are written so many times in all, whoever they are about', () => {
    expect(written(100_000, (n) => `stranger ${n}`)).toBe(10);
    pass(60_000);
    expect(told[0]?.count).toBe(99_990);
  });

  it('do not count for other kinds', () => {
    expect(written(100, () => 'a')).toBe(3);
    expect(written(100, () => 'a', 'other')).toBe(3);
  });

  it('keep neither a timer nor a word when all are written', () => {
    expect(written(3, () => 'a')).toBe(3);
    expect(timers).toEqual([]);
    pass(60_000);
    expect(written(3, () => 'a')).toBe(3);
    expect(told).toEqual([]);
  });

  it('that were left out are told of at the end of the program too, once', () => {
    written(4, () => 'a');
    limiter.close();
    expect(told).toHaveLength(1);
    expect(timers).toEqual([]);
    pass(60_000);
    expect(told).toHaveLength(1);
  });
});

describe('the words for it', () => {
  it('name the kind, how many, and whom most were about', () => {
    const lines = { kind: 'connection-refused', count: 990, within: 60_000 };
    expect(suppressedText({ ...lines, subject: '192.0.2.1', ofSubject: 900 })).toBe(
      '990 more lines of "connection-refused" within 60 s were not written, 900 of them about 192.0.2.1',
    );
    expect(suppressedText({ ...lines, subject: '', ofSubject: 0 })).not.toContain('about');
  });
});
