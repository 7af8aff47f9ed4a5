import { expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { ClientWatch } from './client-watch.ts';

it('reads no counter where there is no VIP to watch, and closes what it reads by when it stops', () => {
  const clock = new ManualClock();
  const calls: string[] = [];
  let vips: readonly string[] = [];
  const watch = new ClientWatch({
    clock,
    read: () => {
      calls.push('read');
      return { arrived: [], sent: [], followed: [], established: [] };
    },
    close: () => calls.push('close'),
    vips: () => vips,
    forwarding: () => [],
    panicThreshold: () => 0.5,
    doubts: () => undefined,
    changed: () => undefined,
    counted: () => undefined,
    failed: () => undefined,
  });
  watch.start();
  clock.advance(10_000);
  expect(calls).toEqual([]);
  vips = ['10.100.0.1/32'];
  clock.advance(2000);
  expect(calls).toEqual(['read']);
  watch.stop();
  clock.advance(10_000);
  expect(calls).toEqual(['read', 'close']);
});
