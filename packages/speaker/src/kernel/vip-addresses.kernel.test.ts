/** What others do to the VIP on `lo`, on a real kernel. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { ipVersion } from '@bgp-lb/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { field, type LineProcess, NetworkNamespace } from '../testing/network-namespace.ts';

const VIP = '10.100.0.1';
const VIP6 = '2001:db8:100::1';
const driver = new URL('../testing/host-network-process.ts', import.meta.url).pathname;

let master: NetworkNamespace;
let network: LineProcess;

beforeAll(() => {
  master = new NetworkNamespace('vip');
  const vips = [VIP, VIP6].map((address) => ({ address, port: 6443, machinePort: 6443 }));
  network = master.start(driver, JSON.stringify(vips));
});

afterAll(() => master.remove());

afterEach(() => bind());

async function bind(...bound: string[]): Promise<void> {
  network.send({ bound });
  expect(await network.next(field('done'))).toEqual(bound);
}

/** One pass, as an event of the kernel brings it: what it repaired, in order. */
async function repairs(count: number): Promise<unknown[]> {
  network.send({ pass: 'full' });
  await network.next(field('done'));
  const told: unknown[] = [];
  while (told.length < count) told.push(await network.next(field('repaired')));
  return told;
}

interface Entry {
  readonly local?: string;
  readonly prefixlen: number;
  readonly scope: string;
  readonly valid_life_time: number;
  readonly preferred_life_time: number;
}

/** The entries of an address on `lo`. */
function entries(address: string): readonly Entry[] {
  const [lo] = JSON.parse(master.ip('-json', 'address', 'show', 'dev', 'lo')) as [{ addr_info: Entry[] }];
  return lo.addr_info.filter(({ local }) => local === address);
}

/** Exactly one, of this host alone, which ends by itself. */
function expectLease(address: string): void {
  expect(entries(address)).toEqual([
    expect.objectContaining({
      prefixlen: ipVersion(address) === 6 ? 128 : 32,
      scope: ipVersion(address) === 6 ? 'global' : 'host',
      preferred_life_time: 0,
    }),
  ]);
  expect(entries(address)[0]?.valid_life_time).toBeLessThanOrEqual(90);
}

describe('a bound VIP', () => {
  it('that somebody adds a second time with the length of a subnet is there once', async () => {
    await bind(VIP);
    master.ip('address', 'add', `${VIP}/24`, 'dev', 'lo');
    expect(entries(VIP)).toHaveLength(2);
    expect(await repairs(1)).toEqual([`address: removed ${VIP}/24 from lo`]);
    expectLease(VIP);
  });

  it.each([VIP, VIP6])('%s that somebody put there for good becomes a lease', async (address) => {
    await bind(address);
    const length = ipVersion(address) === 6 ? 128 : 32;
    master.ip(
      'address',
      'change',
      `${address}/${length}`,
      'dev',
      'lo',
      'valid_lft',
      'forever',
      'preferred_lft',
      'forever',
    );
    expect(await repairs(1)).toEqual([`address: made ${address} on lo a lease again`]);
    expectLease(address);
  });

  it('of IPv6 that somebody replaced by one with the length of a subnet is put right', async () => {
    await bind(VIP6);
    master.ip('address', 'del', `${VIP6}/128`, 'dev', 'lo');
    master.ip('address', 'add', `${VIP6}/64`, 'dev', 'lo');
    expect(await repairs(2)).toEqual([`address: removed ${VIP6}/64 from lo`, `address: put ${VIP6} on lo`]);
    expectLease(VIP6);
  });

  it('that is there already, for good and in a subnet, becomes ours when it is bound', async () => {
    master.ip('address', 'add', `${VIP}/24`, 'dev', 'lo');
    await bind(VIP);
    expectLease(VIP);
  });
});

/** What the kernel says of routes until `end` is called, which waits for all that came before. */
function watchRoutes(): { end(): Promise<string> } {
  const monitor = spawn('ip', ['-n', master.name, 'monitor', 'route'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let told = '';
  monitor.stdout.on('data', (text) => {
    told += text;
  });
  const until = async (text: string): Promise<void> => {
    for (let metric = 1; !told.includes(text); metric += 1) {
      // The kernel says nothing of a route that is there already.
      master.ip('route', 'add', 'blackhole', text, 'metric', String(metric));
      if (!told.includes(text)) await Promise.race([once(monitor.stdout, 'data'), sleep(100)]);
    }
  };
  const begun = until('198.51.100.1');
  return {
    async end() {
      await begun;
      await until('198.51.100.2');
      const exit = once(monitor, 'exit');
      monitor.kill();
      await exit;
      return told;
    },
  };
}

describe('the source of connections to other hosts', () => {
  const NODE = '10.8.0.1';
  const source = (): string | undefined => {
    const [route] = JSON.parse(master.ip('-json', 'route', 'get', '192.0.2.1')) as [{ prefsrc?: string }];
    return route.prefsrc;
  };
  /** An uplink without an address of its own, as of a host with BGP to its racks. */
  beforeAll(() => {
    master.ip('link', 'add', 'uplink', 'type', 'veth', 'peer', 'name', 'other-end');
    for (const end of ['uplink', 'other-end']) master.ip('link', 'set', end, 'up');
    master.ip('route', 'add', 'default', 'dev', 'uplink');
    master.ip('address', 'add', `${NODE}/32`, 'dev', 'lo');
  });
  afterAll(() => {
    master.ip('link', 'del', 'uplink');
    master.ip('address', 'del', `${NODE}/32`, 'dev', 'lo');
  });

  it('is not the VIP when the address of the node was there before, or is added again after it', async () => {
    await bind(VIP);
    expect(source()).toBe(NODE);
    master.ip('address', 'del', `${NODE}/32`, 'dev', 'lo');
    expect(source()).not.toBe(VIP);
    master.ip('address', 'add', `${NODE}/32`, 'dev', 'lo');
    expect(source()).toBe(NODE);
  });

  it('is not one that was there with another scope, as an earlier version had it, and that is never gone', async () => {
    // The entry that keeps the VIP here while the test replaces ours by that of an earlier version.
    master.ip('address', 'del', `${NODE}/32`, 'dev', 'lo');
    await bind(VIP);
    const routes = watchRoutes();
    master.ip('address', 'add', `${VIP}/31`, 'dev', 'lo', 'noprefixroute');
    master.ip('address', 'del', `${VIP}/32`, 'dev', 'lo');
    master.ip('address', 'add', `${VIP}/32`, 'dev', 'lo', 'valid_lft', '80', 'preferred_lft', '0');
    master.ip('address', 'add', `${NODE}/32`, 'dev', 'lo');
    await repairs(1);
    expectLease(VIP);
    expect(source()).toBe(NODE);
    expect(await routes.end()).not.toContain(`Deleted local ${VIP}`);
  });
});

describe('a VIP that is not bound', () => {
  it('is removed in whatever form somebody puts it on lo', async () => {
    for (const [address, length] of [
      [VIP, 32],
      [VIP, 24],
      [VIP6, 128],
      [VIP6, 64],
    ] as const) {
      master.ip('address', 'add', `${address}/${length}`, 'dev', 'lo');
      expect(await repairs(1)).toEqual([`address: removed ${address} from lo`]);
      expect(entries(address)).toEqual([]);
    }
  });
});
