import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { addresses, brokenAt, heal, others } from '../kit/cluster.ts';
import {
  failuresOf,
  oldServers,
  type StatServer,
  servedBy,
  servers,
  startHaproxyCluster,
  workers,
} from '../kit/haproxy-lab.ts';

const TIMEOUT = 120_000;
const connections = 90;

describe.each([
  // Milliseconds until its connections are gone: detection of BFD, or `fall` times the interval and the time of a probe.
  { by: 'BFD', bfd: 300, interval: 200, limit: 900 + 1_000 },
  { by: 'health checks alone', bfd: null, interval: 200, limit: 3 * 200 + 1_000 },
  { by: 'health checks alone, at their default pace', bfd: null, interval: 1_000, limit: 3 * 1_000 + 1_000 },
])('a member that dies in silence, found by $by', { timeout: TIMEOUT }, ({ bfd, interval, limit }) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startHaproxyCluster({ bfd, router: { healthCheck: { interval: `${interval}ms` } } });
  }, TIMEOUT);
  afterAll(() => lab.destroy());
  beforeEach(async () => {
    await heal(lab);
    await servedBy(lab, lab.masters, 20_000);
    await lab.client.closeAll();
  }, TIMEOUT);

  async function connect(): Promise<void> {
    const { opened, failed } = await lab.client.open(connections, { exchangeEvery: 200 });
    expect({ opened, failed }).toEqual({ opened: connections, failed: 0 });
  }

  /** Milliseconds from its death until HAProxy has ended what it had there. */
  async function timeToCut(victim: MasterHost, read: () => Promise<StatServer[]>): Promise<number> {
    const { address } = victim;
    const had = (await read()).find(({ name }) => name === address)?.sessions;
    expect(had).toBe(connections / 3);
    const begun = performance.now();
    await victim.disconnect();
    await waitUntil(
      async () => (await read()).every(({ name, sessions }) => name !== address || sessions === 0),
      { what: `no connection to ${address}`, timeoutMs: 20_000 },
    );
    return performance.now() - begun;
  }

  it('has its connections ended in that time, and no other', async () => {
    const victim = lab.master(2);
    await connect();
    expect(await timeToCut(victim, () => servers(lab))).toBeLessThan(limit);
    await servedBy(lab, others(lab, victim));
    const { alive, brokenByMaster } = await lab.client.check();
    expect(alive).toBe(connections - connections / 3);
    expect(brokenAt(others(lab, victim), brokenByMaster)).toBe(0);
    await victim.reconnect();
  });

  it('has those ended too that are older than a reload of HAProxy', async () => {
    const victim = lab.master(3);
    await connect();
    const before = await workers(lab);
    lab.lb.writeConfig({ dataplane: { idleTimeout: '30m' } });
    await lab.lb.router.stop();
    await lab.lb.router.start();
    await expect.poll(() => workers(lab), { timeout: 15_000 }).toMatchObject({ old: [before.current] });
    await lab.lb.waitForPool(addresses(lab.masters), 20_000);
    await servedBy(lab, lab.masters);
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
    expect(await timeToCut(victim, () => oldServers(lab, before.current))).toBeLessThan(limit);
    const { brokenByMaster } = await lab.client.check();
    expect(brokenByMaster[victim.name]).toBe(connections / 3);
    expect(brokenAt(others(lab, victim), brokenByMaster)).toBe(0);
    await victim.reconnect();
    lab.lb.writeConfig();
  });
});

describe('a member that is drained', { timeout: TIMEOUT }, () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startHaproxyCluster();
  }, TIMEOUT);
  afterAll(() => lab.destroy());

  it('keeps what it has for 30 s and gets nothing new; undrained it is back; removed after a drain it breaks nothing', async () => {
    const member = lab.master(2);
    const totalOf = async (): Promise<number> =>
      (await servers(lab)).find(({ name }) => name === member.address)?.total ?? Number.NaN;
    await lab.client.open(30, { exchangeEvery: 200 });
    const drain = lab.lb.router.query(['drain', member.address, '--wait', '90s'], 120_000);
    await servedBy(lab, others(lab, member));
    const before = await totalOf();
    await lab.client.startLoop({ every: 50 });
    await expect
      .poll(async () => (await lab.client.loopReport()).sent, { timeout: 60_000 })
      .toBeGreaterThan(600);
    expect(await failuresOf(lab.client.loopReport())).toEqual({ failed: 0, reasons: {} });
    expect(await totalOf()).toBe(before);
    expect(await lab.client.check()).toMatchObject({ alive: 30, broken: 0 });
    expect((await lab.lb.router.query(['undrain', member.address])).code).toBe(0);
    await drain;
    await servedBy(lab, lab.masters);
    await lab.client.closeAll();
    // Nothing is left on it when its time is over: then its removal breaks nothing.
    const second = await lab.lb.router.query(['drain', member.address, '--wait', '2s'], 60_000);
    expect(second.code).toBe(0);
    await waitUntil(async () => !(await servers(lab)).some(({ name }) => name === member.address), {
      what: 'it is removed',
    });
    expect(await failuresOf(lab.client.stopLoop())).toEqual({ failed: 0, reasons: {} });
  });
});
