import { describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { HostDrain } from './host-drain.ts';

function start() {
  const clock = new ManualClock();
  const heard: string[] = [];
  return { clock, heard, drain: new HostDrain(clock, (phase) => void heard.push(phase)) };
}

describe('the drain of a load balancer', () => {
  it('asks others to take over, waits, and withdraws', () => {
    const { clock, drain, heard } = start();
    expect(drain.status()).toEqual({ phase: 'none', sinceMs: null });
    drain.begin(10_000);
    clock.advance(9_999);
    expect(drain.status()).toEqual({ phase: 'leaving', sinceMs: 9_999 });
    clock.advance(1);
    expect(drain.status()).toEqual({ phase: 'withdrawn', sinceMs: 0 });
    expect(heard).toEqual(['leaving', 'withdrawn']);
  });

  it('is begun once, however often it is asked for', () => {
    const { clock, drain, heard } = start();
    drain.begin(10_000);
    clock.advance(6_000);
    drain.begin(10_000);
    clock.advance(4_000);
    drain.begin(10_000);
    expect(heard).toEqual(['leaving', 'withdrawn']);
  });

  it.each([0, 5_000, 10_000])('ends at once, %s ms after it began, and withdraws nothing later', (after) => {
    const { clock, drain, heard } = start();
    drain.begin(10_000);
    clock.advance(after);
    drain.end();
    drain.end();
    clock.advance(20_000);
    expect(heard.filter((phase) => phase === 'none')).toHaveLength(1);
    expect(drain.phase).toBe('none');
  });
});
