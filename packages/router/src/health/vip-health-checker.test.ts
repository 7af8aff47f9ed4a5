import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RouterConfig } from '../config/router-config.ts';
import { routerSchema } from '../config/schema.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { CaFile } from './ca-file.ts';
import { VipHealthChecker } from './vip-health-checker.ts';

const [first, second] = ['10.100.0.1/32', '10.100.0.2/32'];

function config(changes: object = {}, port = 6443): RouterConfig {
  const neighbors = [{ name: 'masters', role: 'master', range: '10.0.0.0/24', asn: 64512 }];
  const vips = [{ address: '10.100.0.1' }, { address: '10.100.0.2', port }];
  return routerSchema.parse({ asn: 64512, neighbors, vips, ...changes });
}

let asked: string[];
let clock: ManualClock;
let health: VipHealthChecker;

beforeEach(() => {
  asked = [];
  clock = new ManualClock();
  const note = (nextHop: string, address: string): never => {
    asked.push(`${address} by ${nextHop}`);
    throw new Error('no way');
  };
  health = new VipHealthChecker({
    config: config(),
    dataPlane: { probeWays: { setProbed: () => undefined, socketThrough: note } },
    ca: new CaFile('/nonexistent/ca.crt', () => 0),
    clock,
    lost: () => 0,
    onResult: () => undefined,
  });
  probeBoth();
});

afterEach(() => health.close());

function probeBoth(): void {
  for (const vip of [first, second]) health.setTargets(vip, [{ nextHop: '10.0.0.11', urgency: 'normal' }]);
}

/** What is probed at once when the configuration becomes this one. */
function probedAfter(next: RouterConfig): string[] {
  asked = [];
  health.configure(next);
  probeBoth();
  return asked;
}

it('goes on where nothing of a probe is another', () => {
  expect(asked).toEqual(['10.100.0.1 by 10.0.0.11', '10.100.0.2 by 10.0.0.11']);
  expect(probedAfter(config({ log: { level: 'debug' } }))).toEqual([]);
});

it('probes a VIP with another port at once, and that VIP alone', () => {
  expect(probedAfter(config({}, 7443))).toEqual(['10.100.0.2 by 10.0.0.11']);
});

it('probes all at once where the health check is another', () => {
  expect(probedAfter(config({ healthCheck: { path: '/livez' } }))).toHaveLength(2);
  expect(probedAfter(config({ healthCheck: { path: '/livez' } }))).toEqual([]);
});
