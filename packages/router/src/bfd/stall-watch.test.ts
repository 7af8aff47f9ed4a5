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
  watch.watch(150);
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
    looksWithin: (ms: number): number => {
      const before = looks.length;
      run(ms);
      return looks.length - before;
    },
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

  it('counts all the time that this process could not use, what goes on included', () => {
    const { watch, run, hang } = process();
    run(1000);
    expect(watch.lost).toBe(0);
    hang(800);
    expect(watch.lost).toBe(775);
    run(0);
    run(1000);
    expect(watch.lost).toBe(775);
    for (let n = 0; n < 10; n++) {
      hang(45);
      run(0);
    }
    expect(watch.lost).toBe(775 + 10 * 20);
    watch.stop();
    hang(5000);
    expect(watch.lost).toBe(975);
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

  it('looks as often as the shortest Detection Time asks for, and no more than the metrics need where there is none', () => {
    const { watch, looksWithin } = process();
    expect(looksWithin(3000)).toBe(120);
    watch.watch(900);
    expect(looksWithin(3000)).toBe(20);
    watch.watch(900);
    watch.watch(undefined);
    expect(looksWithin(3000)).toBe(15);
    watch.watch(60_000);
    expect(looksWithin(3000)).toBe(15);
    watch.watch(900);
    expect(looksWithin(3000)).toBe(20);
  });

  it.each([150, 900, 3000])('always suspects a stall of two thirds of %d ms, and none of a third', (time) => {
    const { watch, run, hang } = process();
    watch.watch(time);
    for (let phase = 0; phase < time; phase += time / 30) {
      run(time + phase);
      hang((time * 2) / 3);
      expect(watch.isSuspicious).toBe(true);
      run(2100 + time);
      hang(time / 3);
      expect(watch.isSuspicious).toBe(false);
      run(2100 + time);
    }
  });

  it('remembers a stall after the last session has gone, whose end it may explain', () => {
    const { watch, run, hang } = process();
    run(1000);
    hang(800);
    watch.watch(undefined);
    expect(watch.lateness).toBe(775);
    expect(watch.isSuspicious).toBe(true);
    run(2100);
    expect(watch.isSuspicious).toBe(false);
  });

  it('is silent after it was stopped', () => {
    const { watch, hang } = process();
    watch.stop();
    hang(5000);
    expect(watch.lateness).toBe(0);
  });
});
