import { describe, expect, it } from 'vitest';
import { KeyedQueue } from './keyed-queue.ts';

/** A queue whose work ends when the test says so, and whose timers fire when it says so. */
function queueOf(workers = 2) {
  const begun: string[] = [];
  const ends: ((result: number | undefined | Error) => void)[] = [];
  const timers: { ms: number; fire: () => void }[] = [];
  const failed: string[] = [];
  const queue = new KeyedQueue({
    clock: {
      now: () => 0,
      after(ms, fire) {
        const timer = { ms, fire };
        timers.push(timer);
        return () => timers.splice(timers.indexOf(timer), 1);
      },
    },
    workers,
    work: (key) => {
      begun.push(key);
      return new Promise((resolve, reject) => {
        ends.push((result) => (result instanceof Error ? reject(result) : resolve(result)));
      });
    },
    failed: (key) => failed.push(key),
  });
  const end = async (result?: number | Error): Promise<void> => {
    ends.shift()?.(result);
    await new Promise(setImmediate);
  };
  const fire = (): void => timers.shift()?.fire();
  return { queue, begun, timers, failed, end, fire };
}

describe('a queue of keys', () => {
  it('works on a key once, however often it was asked for', () => {
    const { queue, begun } = queueOf();
    for (const key of ['a', 'a', 'b', 'a']) queue.add(key);
    queue.open();
    expect(begun).toEqual(['a', 'b']);
  });

  it('never works on a key twice at a time, and again when it was asked for meanwhile', async () => {
    const { queue, begun, end } = queueOf();
    queue.open();
    queue.add('a');
    queue.add('a');
    queue.add('a');
    expect(begun).toEqual(['a']);
    await end();
    expect(begun).toEqual(['a', 'a']);
    await end();
    expect(begun).toEqual(['a', 'a']);
  });

  it('works on as many keys at a time as it has workers, first come first served', async () => {
    const { queue, begun, end } = queueOf(2);
    queue.open();
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
    expect([begun.join(), queue.depth]).toEqual(['a,b', 2]);
    await end();
    expect(begun.join()).toBe('a,b,c');
  });

  it('comes back to what failed after 5 ms, doubled each time, 1000 s at most, and from 5 ms again after a success', async () => {
    const { queue, timers, failed, end, fire } = queueOf();
    queue.open();
    queue.add('a');
    const delays: number[] = [];
    for (let count = 0; count < 20; count += 1) {
      await end(new Error('no'));
      delays.push(timers[0]?.ms ?? 0);
      fire();
    }
    expect(delays.slice(0, 4)).toEqual([5, 10, 20, 40]);
    expect(delays.at(-1)).toBe(1_000_000);
    expect(failed).toHaveLength(20);
    await end();
    queue.add('a');
    await end(new Error('no'));
    expect(timers[0]?.ms).toBe(5);
  });

  it('comes back when work says so, and forgets that when it comes earlier', async () => {
    const { queue, begun, timers, end } = queueOf();
    queue.open();
    queue.add('a');
    await end(30_000);
    expect(timers.map(({ ms }) => ms)).toEqual([30_000]);
    queue.add('a');
    await end();
    expect([timers.length, begun.length]).toEqual([0, 2]);
  });

  it('closes when what is under way has ended, and works on nothing more', async () => {
    const { queue, begun, end } = queueOf(1);
    queue.open();
    queue.add('a');
    queue.add('b');
    let isClosed = false;
    const closed = queue.close().then(() => {
      isClosed = true;
    });
    await new Promise(setImmediate);
    expect(isClosed).toBe(false);
    await end();
    await closed;
    expect(begun).toEqual(['a']);
  });
});
