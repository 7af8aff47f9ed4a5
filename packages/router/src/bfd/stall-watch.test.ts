import { describe, expect, it } from 'vitest';
import { StallWatch } from './stall-watch.ts';

/** A process whose timers fire when it is not stalled. */
function process() {
  let now = 0;
  let timer: { at: number; fire: () => void } | undefined;
  const looks: number[] = [];
  const watch = new StallWatch(
    {
      now: () => now,
      after: (ms, fire) => {
        timer = { at: now + ms, fire };
        return () => {
          timer = undefined;
        };
      },
    },
    (lateness) => looks.push(lateness),
  );
  watch.start();
  const run = (ms: number): void => {
    const end = now + ms;
    while (timer !== undefined && timer.at <= end) {
      now = Math.max(now, timer.at);
      timer.fire();
    }
    now = end;
  };
  return {
    watch,
    looks,
    run,
    hang: (ms: number) => {
      now += ms;
    },
  };
}

describe('the watch over our own lateness', () => {
  it('says nothing of a process that runs', () => {
    const { watch, run } = process();
    run(10_000);
    expect(watch.lateness).toBe(0);
  });

  it('knows of a stall before its own timer has fired, and for 2 s after', () => {
    const { watch, run, hang } = process();
    run(1000);
    hang(800);
    expect(watch.lateness).toBe(775);
    run(0);
    run(1900);
    expect(watch.lateness).toBeGreaterThanOrEqual(775);
    run(200);
    expect(watch.lateness).toBe(0);
  });

  it('tells how late each look was', () => {
    const { looks, run, hang } = process();
    run(50);
    hang(125);
    run(0);
    expect(looks).toEqual([0, 0, 100]);
  });

  it('is silent after it was stopped', () => {
    const { watch, hang } = process();
    watch.stop();
    hang(5000);
    expect(watch.lateness).toBe(0);
  });
});
