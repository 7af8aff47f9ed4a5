import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from './clock.ts';
import { Deadlines } from './deadlines.ts';
import { ManualClock } from './kit/manual-clock.ts';
import { SessionTimers } from './session-timers.ts';

let clock: ManualClock;
let expired: string[];
let armed: number;

beforeEach(() => {
  clock = new ManualClock();
  expired = [];
  armed = 0;
});

function timers(random: () => number = () => 0): SessionTimers<'Hold' | 'Keepalive'> {
  const counted: Clock = {
    now: () => clock.now(),
    after: (ms, fire) => {
      armed += 1;
      return clock.after(ms, fire);
    },
  };
  return new SessionTimers({
    clock: counted,
    deadlines: new Deadlines(counted),
    random,
    jittered: ['Keepalive'],
    silence: ['Hold'],
    expired: (name) => expired.push(name),
  });
}

describe('timers of a session', () => {
  it('expire once, at their time', async () => {
    const session = timers();
    session.start('Hold', 9);
    await clock.advance(8999);
    expect(expired).toEqual([]);
    await clock.advance(1);
    expect(expired).toEqual(['Hold']);
    await clock.advance(100_000);
    expect(expired).toEqual(['Hold']);
  });

  it('do not ask the clock again with each restart', async () => {
    const session = timers();
    for (let second = 0; second < 90; second += 1) {
      session.start('Hold', 9);
      await clock.advance(1000);
    }
    expect(expired).toEqual([]);
    expect(armed).toBeLessThan(15);
    await clock.advance(8000);
    expect(expired).toEqual(['Hold']);
  });

  it('can be restarted to expire earlier', async () => {
    const session = timers();
    session.start('Hold', 240);
    session.start('Hold', 3);
    await clock.advance(3000);
    expect(expired).toEqual(['Hold']);
  });

  it('do not expire once stopped', async () => {
    const session = timers();
    session.start('Hold', 9);
    session.start('Keepalive', 3);
    session.stopAll();
    await clock.advance(60_000);
    expect(expired).toEqual([]);
    expect(clock.waiting).toBe(0);
  });

  it.each([
    [0, 7500],
    [0.5, 8750],
    [0.999999, 10_000],
  ])('that are jittered run for 0.75 to 1.0 of their time: random %f gives %i ms', async (random, ms) => {
    timers(() => random).start('Keepalive', 10);
    await clock.advance(ms - 1);
    expect(expired).toEqual([]);
    await clock.advance(1);
    expect(expired).toEqual(['Keepalive']);
  });

  it('that stand for silence give input that waits a chance before they count', async () => {
    const session = timers();
    session.start('Hold', 9);
    clock.stall(20_000);
    // What a socket's data does when the process wakes up.
    session.start('Hold', 9);
    await clock.advance(1);
    expect(expired).toEqual([]);
    await clock.advance(9000);
    expect(expired).toEqual(['Hold']);
  });

  it('of many sessions expire together, each within its jitter', async () => {
    const moments = new Map<number, number>();
    const deadlines = new Deadlines(clock);
    let seed = 1;
    const random = (): number => {
      seed = (seed * 16807) % 2147483647;
      return seed / 2147483647;
    };
    for (let session = 0; session < 300; session++) {
      const since = clock.now();
      const own = new SessionTimers({
        ...{ clock, deadlines, random, jittered: ['Keepalive'], silence: [] },
        expired: () => {
          const ran = clock.now() - since;
          expect(ran).toBeGreaterThanOrEqual(2250);
          expect(ran).toBeLessThanOrEqual(3000);
          moments.set(clock.now(), (moments.get(clock.now()) ?? 0) + 1);
        },
      });
      own.start('Keepalive', 3);
      await clock.advance(3);
    }
    // One timer of the clock for each moment.
    expect(clock.waiting).toBeLessThanOrEqual(34);
    await clock.advance(3000);
    expect([...moments.values()].reduce((sum, count) => sum + count, 0)).toBe(300);
    // 1.65 s in steps of 50 ms, and not the 300 that chance would give.
    expect(moments.size).toBeLessThanOrEqual(34);
    expect(moments.size).toBeGreaterThan(20);
  });

  it.each([
    [0.06, 'random 0', 0],
    [0.06, 'random 0.99', 0.99],
    [1, 'random 0', 0],
    [1, 'random 0.99', 0.99],
  ])('of %f s keep to their jitter wherever the clock stands, %s', async (seconds, _, random) => {
    for (let offset = 0; offset < 50; offset += 7) {
      clock = new ManualClock();
      expired = [];
      await clock.advance(offset);
      timers(() => random).start('Keepalive', seconds);
      await clock.advance(seconds * 750 - 0.001);
      expect(expired).toEqual([]);
      await clock.advance(seconds * 250 + 0.001);
      expect(expired).toEqual(['Keepalive']);
    }
  });

  it('that do not jitter expire to the millisecond, off the grid too', async () => {
    await clock.advance(17);
    const session = timers();
    session.start('Hold', 9);
    await clock.advance(8999);
    expect(expired).toEqual([]);
    await clock.advance(1);
    expect(expired).toEqual(['Hold']);
  });
});
