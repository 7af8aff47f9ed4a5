import { beforeEach, expect, it } from 'vitest';
import type { Clock } from './clock.ts';
import { Deadlines } from './deadlines.ts';
import { ManualClock } from './kit/manual-clock.ts';

let clock: ManualClock;
let deadlines: Deadlines;
let made: string[];

beforeEach(() => {
  clock = new ManualClock();
  deadlines = new Deadlines(clock);
  made = [];
});

function call(name: string): () => void {
  return () => made.push(name);
}

it('calls for the same time share one timer of the clock', async () => {
  deadlines.add(100, call('a'));
  deadlines.add(100, call('b'));
  deadlines.add(150, call('c'));
  expect(clock.waiting).toBe(2);
  await clock.advance(99);
  expect(made).toEqual([]);
  await clock.advance(1);
  expect(made).toEqual(['a', 'b']);
  await clock.advance(1000);
  expect(made).toEqual(['a', 'b', 'c']);
  expect(clock.waiting).toBe(0);
});

it('a call that is taken back is not made, by another one of its time neither', async () => {
  const [a, c, d] = [call('a'), call('c'), call('d')];
  deadlines.add(100, a);
  deadlines.add(100, () => {
    made.push('b');
    deadlines.delete(100, c);
  });
  deadlines.add(100, c);
  deadlines.add(200, d);
  deadlines.delete(100, a);
  deadlines.delete(200, d);
  deadlines.delete(300, d);
  expect(clock.waiting).toBe(1);
  await clock.advance(1000);
  expect(made).toEqual(['b']);
  expect(clock.waiting).toBe(0);
});

it('a call that is added for a time that is there has a turn of its own', async () => {
  deadlines.add(100, () => {
    made.push('a');
    deadlines.add(100, call('b'));
    expect(made).toEqual(['a']);
  });
  await clock.advance(100);
  expect(made).toEqual(['a', 'b']);
  expect(clock.waiting).toBe(0);
});

it('a call that throws leaves the others their turn', async () => {
  deadlines.add(100, () => {
    throw new Error('of one session');
  });
  deadlines.add(100, call('b'));
  await expect(clock.advance(100)).rejects.toThrow('of one session');
  expect(made).toEqual([]);
  await clock.advance(0);
  expect(made).toEqual(['b']);
});

it('no call comes early where the timers of the clock do', async () => {
  const early: Clock = {
    now: () => clock.now(),
    after: (ms, fire) => clock.after(ms > 1 ? ms - 1 : ms, fire),
  };
  const moments: number[] = [];
  new Deadlines(early).add(100, () => moments.push(clock.now()));
  await clock.advance(1000);
  expect(moments).toEqual([100]);
});
