import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../testing/manual-clock.ts';
import { PatientReload } from './patient-reload.ts';

describe('a reload', () => {
  let clock: ManualClock;
  let asked: string[];
  let ends: unknown[];
  let lateEnds: number;
  let end: (error?: Error) => void;
  let reload: PatientReload;

  beforeEach(() => {
    clock = new ManualClock();
    [asked, ends, lateEnds] = [[], [], 0];
    reload = new PatientReload({
      clock,
      reload: (identity) => {
        asked.push(identity);
        return new Promise((resolve, reject) => {
          end = (error) => (error === undefined ? resolve() : reject(error));
        });
      },
      onEnd: (error) => ends.push(error),
      onLateEnd: () => {
        lateEnds += 1;
      },
    });
  });

  it('is waited for when it is quick, and says how it ended', async () => {
    const done = reload.run('a');
    end();
    expect([await done, ends, lateEnds]).toEqual([true, [undefined], 0]);
    const refused = reload.run('b');
    end(new Error('no'));
    expect([await refused, ends[1], lateEnds]).toEqual([false, new Error('no'), 0]);
  });

  it('is waited for half a second when it is slow, is not begun twice, and says later that it has ended', async () => {
    const slow = reload.run('a');
    clock.advance(500);
    expect([await slow, ends, reload.isRunning]).toEqual([false, [], true]);
    expect([await reload.run('a'), asked]).toEqual([false, ['a']]);
    end();
    await expect.poll(() => [ends, lateEnds, reload.isRunning]).toEqual([[undefined], 1, false]);
    void reload.run('b');
    expect(asked).toEqual(['a', 'b']);
  });
});
