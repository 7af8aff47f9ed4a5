import { expect, it } from 'vitest';
import type { RouterConfig } from '../config/router-config.ts';
import { vipOf } from '../testing/vip-of.ts';
import { ForwardingTimes } from './forwarding-times.ts';

const [first, second] = ['10.100.0.1/32', '10.100.0.2/32'];
const config = (...vips: readonly string[]): Pick<RouterConfig, 'vips'> => ({
  vips: vips.map((vip) => vipOf(vip.replace('/32', ''))),
});

it('knows since when a VIP is forwarded to a member or to none, whichever it is', () => {
  let now = 100;
  const times = new ForwardingTimes(() => now, config(first));
  now = 200;
  times.changed(first, []);
  expect(times.sinceOf(first)).toBe(100);
  times.changed(first, ['10.0.0.11']);
  now = 300;
  times.changed(first, ['10.0.0.11', '10.0.0.12']);
  expect(times.sinceOf(first)).toBe(200);
  times.changed(first, []);
  expect(times.sinceOf(first)).toBe(300);
  now = 400;
  times.configure(config(first, second));
  expect([times.sinceOf(first), times.sinceOf(second)]).toEqual([300, 400]);
  times.configure(config(second));
  now = 500;
  // One that is gone is forwarded for a moment, which is not noted.
  times.changed(first, []);
  times.configure(config(first, second));
  expect([times.sinceOf(first), times.sinceOf(second)]).toEqual([500, 400]);
});
