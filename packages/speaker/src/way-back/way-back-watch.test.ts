import type { Firewall } from '@bgp-lb/linux';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WayBackWatch, type WayBackWatchOptions } from './way-back-watch.ts';

type Host = WayBackWatchOptions['host'];

const well: Host = {
  reversePathDrops: () => 0,
  stuckAnswers: () => undefined,
  firewall: () => Promise.resolve({ chains: [], unread: [] }),
};

/** Of a host without VIPs, so that nothing else is asked. */
function watchOf(host: Partial<Host>): WayBackWatch {
  return new WayBackWatch({
    config: () => ({ vips: [], routers: [] }),
    routes: {} as never,
    now: () => performance.now(),
    host: { ...well, ...host },
  });
}

const said = (watch: WayBackWatch): string[] =>
  watch.findings().map(({ level, place, value }) => `${level} ${place}: ${value}`);

const broken = (): never => {
  throw new Error('EMFILE: too many open files');
};

describe('a look at what answers depend on', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each<[string, Partial<Host>]>([
    ['IPReversePathFilter', { reversePathDrops: broken }],
    ['TCP', { stuckAnswers: broken }],
    ['firewall', { firewall: broken }],
    ['firewall', { firewall: () => Promise.reject(new Error('EMFILE: too many open files')) }],
  ])('that cannot read one of them says so, ends nothing, and is done again: %s', async (place, host) => {
    const current: Host = { ...well, ...host };
    const watch = watchOf({
      reversePathDrops: () => current.reversePathDrops(),
      stuckAnswers: (endpoints) => current.stuckAnswers(endpoints),
      firewall: () => current.firewall(),
    });
    watch.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(said(watch)).toEqual([`warning ${place}: cannot be read: EMFILE: too many open files`]);
    Object.assign(current, well);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(said(watch)).toEqual([]);
    watch.close();
  });

  it('says which table could not be read', async () => {
    const unread = [{ table: 'ip large', problem: 'nft printed more than 16777216 octets' }];
    const watch = watchOf({ firewall: () => Promise.resolve({ chains: [], unread }) });
    watch.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(said(watch)).toEqual([
      'warning ip large: its rules cannot be read, and may drop packets: nft printed more than 16777216 octets',
    ]);
    watch.close();
  });

  it('is followed by the next a minute after its end, however long it takes', async () => {
    const ends: ((firewall: Firewall) => void)[] = [];
    const watch = watchOf({ firewall: () => new Promise((resolve) => ends.push(resolve)) });
    watch.start();
    await vi.advanceTimersByTimeAsync(150_000);
    expect(ends).toHaveLength(1);
    ends[0]?.({ chains: [], unread: [] });
    await vi.advanceTimersByTimeAsync(59_999);
    expect(ends).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(ends).toHaveLength(2);
    watch.close();
    ends[1]?.({ chains: [], unread: [] });
    await vi.advanceTimersByTimeAsync(120_000);
    expect(ends).toHaveLength(2);
  });
});
