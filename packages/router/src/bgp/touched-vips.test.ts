import { beforeEach, describe, expect, it } from 'vitest';
import { TouchedVips } from './touched-vips.ts';

describe('VIPs that are touched', () => {
  let announced: (readonly string[])[];
  let ends: Set<() => void>;
  let vips: TouchedVips;

  beforeEach(() => {
    announced = [];
    ends = new Set();
    vips = new TouchedVips(
      (due) => announced.push(due),
      (run) => {
        ends.add(run);
        return () => ends.delete(run);
      },
    );
  });

  /** The turn of the event loop is over. */
  function endTurn(): void {
    for (const run of [...ends]) {
      ends.delete(run);
      run();
    }
  }

  it('are announced once at the end of the turn, together, however often they were touched', () => {
    vips.touch('a');
    vips.touch('b');
    vips.touch('a');
    expect(announced).toEqual([]);
    endTurn();
    endTurn();
    expect(announced).toEqual([['a', 'b']]);
    vips.touch('b', 'c');
    endTurn();
    expect(announced).toEqual([
      ['a', 'b'],
      ['b', 'c'],
    ]);
  });

  it('are announced at once where that is asked for, and not again', () => {
    vips.touch('a');
    vips.flush();
    endTurn();
    vips.flush();
    expect(announced).toEqual([['a']]);
  });

  it('are announced in the next turn when what is announced touches them', () => {
    const again = new TouchedVips(
      (due) => {
        announced.push(due);
        if (announced.length === 1) again.touch('b');
      },
      (run) => {
        ends.add(run);
        return () => ends.delete(run);
      },
    );
    again.touch('a');
    endTurn();
    expect(announced).toEqual([['a']]);
    endTurn();
    expect(announced).toEqual([['a'], ['b']]);
  });

  it('are not announced once it was closed', () => {
    vips.touch('a');
    vips.close();
    vips.touch('b');
    endTurn();
    vips.flush();
    expect(announced).toEqual([]);
  });

  it('are announced when everything that waited in this turn was handled', async () => {
    const real = new TouchedVips((due) => announced.push(due));
    real.touch('a');
    await Promise.resolve();
    await new Promise((resolve) => process.nextTick(resolve));
    real.touch('b');
    expect(announced).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(announced).toEqual([['a', 'b']]);
  });
});
