import { describe, expect, it } from 'vitest';
import { SharedTimer } from './shared-timer.ts';

/** A clock that goes from one call to the next, and counts how often it woke its owner. */
function ticking() {
  let now = 1000;
  let wakes = 0;
  const timers = new Set<{ at: number; fire: () => void }>();
  const late: number[] = [];
  const shared = new SharedTimer(
    {
      now: () => now,
      after: (ms, fire) => {
        const timer = { at: now + ms, fire };
        timers.add(timer);
        return () => timers.delete(timer);
      },
    },
    (milliseconds) => late.push(milliseconds),
  );
  const run = (ms: number): void => {
    const end = now + ms;
    for (;;) {
      const [next] = [...timers].sort((a, b) => a.at - b.at);
      if (next === undefined || next.at > end) break;
      timers.delete(next);
      now = Math.max(now, next.at);
      wakes += 1;
      next.fire();
    }
    now = Math.max(now, end);
  };
  const pass = (ms: number): void => {
    now += ms;
  };
  return { shared, run, pass, late, wakes: () => wakes, now: () => now, armed: () => timers.size };
}

describe('a timer that several share', () => {
  it('wakes the process once for looks that began together, however much time each takes', () => {
    const { shared, run, pass, wakes } = ticking();
    const made = { files: 0, probe: 0 };
    const look = (name: 'files' | 'probe', takes: number): void => {
      made[name] += 1;
      shared.after(200, () => look(name, takes));
      pass(takes);
    };
    look('files', 0.7);
    look('probe', 0.9);
    run(2_010);
    expect(made).toEqual({ files: 11, probe: 11 });
    expect(wakes()).toBe(10);
  });

  it('calls in the order of the deadlines, none more than a little early', () => {
    const { shared, run, now } = ticking();
    const called: [string, number][] = [];
    for (const [name, ms] of [
      ['late', 210],
      ['second', 204],
      ['first', 200],
    ] as const)
      shared.after(ms, () => called.push([name, now()]));
    run(500);
    expect(called).toEqual([
      ['first', 1200],
      ['second', 1200],
      ['late', 1210],
    ]);
  });

  it('tells how late each wake-up was', () => {
    const { shared, run, pass, late } = ticking();
    shared.after(100, () => undefined);
    shared.after(300, () => undefined);
    run(100);
    pass(450);
    run(0);
    expect(late).toEqual([0, 250]);
  });

  it('does not call what was cancelled, also by a call of the same wake-up, and then leaves no timer', () => {
    const { shared, run, armed } = ticking();
    const called: string[] = [];
    const cancelEarly = shared.after(50, () => called.push('early'));
    shared.after(100, () => {
      called.push('first');
      cancelSecond();
    });
    const cancelSecond = shared.after(101, () => called.push('second'));
    cancelEarly();
    run(200);
    expect(called).toEqual(['first']);
    const cancel = shared.after(100, () => undefined);
    expect(armed()).toBe(1);
    cancel();
    expect(armed()).toBe(0);
  });

  it('goes on after a call that threw', () => {
    const { shared, run } = ticking();
    const called: string[] = [];
    shared.after(100, () => {
      throw new Error('one of ours');
    });
    shared.after(101, () => called.push('with it'));
    shared.after(300, () => called.push('later'));
    expect(() => run(100)).toThrow('one of ours');
    run(500);
    expect(called).toEqual(['with it', 'later']);
  });
});
