import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Lab } from '../../scripts/lab/lab.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { addresses, heal } from '../kit/cluster.ts';
import { failuresOf, runTime, servedBy, servers, startHaproxyCluster, workers } from '../kit/haproxy-lab.ts';

const TIMEOUT = 180_000;
const watches = 60;
/** How long an old worker keeps what it has (s). */
const hardStopAfter = 15;

describe('HAProxy and the router, each with a life of its own', { timeout: TIMEOUT }, () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startHaproxyCluster({ router: { dataplane: { hardStopAfter: `${hardStopAfter}s` } } });
  }, TIMEOUT);
  afterAll(() => lab.destroy());
  beforeEach(async () => {
    await heal(lab);
    await servedBy(lab, lab.masters, 20_000);
    await lab.client.closeAll();
    await lab.client.open(watches, { exchangeEvery: 200 });
    await lab.client.startLoop({ every: 20 });
  }, TIMEOUT);

  const backend = (): string => 'members-10.100.0.1';

  async function expectNoDifference(): Promise<void> {
    await waitUntil(async () => (await lab.lb.router.query(['fib', '--diff'])).code === 0, {
      what: 'no difference',
      timeoutMs: 10_000,
    });
  }

  async function repairs(): Promise<number> {
    const { stdout } = await lab.lb.router.query(['events']);
    return [...stdout.matchAll(/ repaired /g)].length;
  }

  it('takes 100 changes of members in a minute without a reload or a failed connection', async () => {
    const before = await workers(lab);
    const leaving = addresses(lab.masters.slice(1));
    const begun = performance.now();
    for (let round = 0; round < 25; round += 1) {
      for (const member of leaving) {
        // Longer than a request takes on a busy machine: what is there after it is cut.
        const order = { member, wait: 1_000, force: false };
        await lab.lb.router.request('POST', '/api/v1/member-drains', order);
      }
      await waitUntil(async () => (await servers(lab)).every(({ name }) => !leaving.includes(name)), {
        what: 'they are gone',
        timeoutMs: 10_000,
      });
      for (const member of leaving) {
        await lab.lb.router.request('POST', '/api/v1/member-undrain', { member });
      }
      await servedBy(lab, lab.masters);
    }
    expect(performance.now() - begun).toBeLessThan(60_000);
    expect(await workers(lab)).toEqual(before);
    expect(await failuresOf(lab.client.stopLoop())).toEqual({ failed: 0, reasons: {} });
    await expectNoDifference();
    const config = readFileSync(lab.lb.haproxy.config, 'utf8');
    const inFile = [...config.matchAll(/^ {2}server (\S+) (\S+) /gm)].map(([, name, at]) => `${name} ${at}`);
    const running = (await runTime(lab, 'show servers conn')).matchAll(
      /^members-\S+\/(\S+) \S+ (\S+) (\d+) /gm,
    );
    const atRunTime = [...running].map(([, name, address, port]) => `${name} ${address}:${port}`);
    expect(atRunTime.sort()).toEqual(inFile.sort());
    expect(atRunTime).toHaveLength(4);
  });

  it.each(['stop', 'kill'] as const)(
    'runs on when the router ends by %s, and is adopted as it is',
    async (how) => {
      const before = await workers(lab);
      await lab.lb.router[how]();
      await lab.client.markLoop();
      await expect
        .poll(async () => (await lab.client.loopReport()).ok, { timeout: 10_000 })
        .toBeGreaterThan(50);
      await lab.lb.router.start();
      await servedBy(lab, lab.masters);
      await expectNoDifference();
      await expect
        .poll(async () => (await lab.client.loopReport()).ok, { timeout: 10_000 })
        .toBeGreaterThan(100);
      expect(await failuresOf(lab.client.stopLoop())).toEqual({ failed: 0, reasons: {} });
      expect(await workers(lab)).toEqual(before);
      expect(await lab.client.check()).toMatchObject({ alive: watches, broken: 0 });
    },
  );

  it.each(['with the router', 'without it'])(
    'is back within 2 s with the right members when it is killed, %s',
    async (how) => {
      await lab.client.stopLoop();
      if (how === 'without it') await lab.lb.router.kill();
      const { current } = await workers(lab);
      process.kill(current, 'SIGKILL');
      const begun = performance.now();
      await waitUntil(async () => (await workers(lab).catch(() => ({ current }))).current !== current, {
        what: 'a new one',
      });
      await waitUntil(async () => (await lab.client.request({ timeout: 500 })).ok, {
        what: 'an answer',
        timeoutMs: 10_000,
      });
      expect(performance.now() - begun).toBeLessThan(2_000);
      await servedBy(lab, lab.masters);
      if (how === 'without it') await lab.lb.router.start();
      await expectNoDifference();
    },
  );

  it.each([
    ['del server', ['set server X state maint', 'shutdown sessions server X', 'del server X']],
    ['maint', ['set server X state maint']],
    ['a weight', ['set server X weight 3']],
    ['no checks', ['disable health X']],
  ] as const)('has %s by hand shown, and put right with one event', async (_, commands) => {
    await lab.client.stopLoop();
    const server = `${backend()}/${lab.master(2).address}`;
    const before = await repairs();
    // Stopped for a moment, so that the difference is there to be seen.
    for (const command of commands) await runTime(lab, command.replace('X', server));
    await waitUntil(async () => (await repairs()) > before, { what: 'an event', timeoutMs: 10_000 });
    await servedBy(lab, lab.masters);
    await expectNoDifference();
    expect(await repairs()).toBe(before + 1);
  });

  it('takes a second port by a reload without a failed connection, and watches go on until hardStopAfter', async () => {
    const before = await workers(lab);
    await lab.client.stopLoop();
    await lab.client.startLoop({ every: 5 });
    const vips = [
      { address: '10.100.0.1', port: 443, machinePort: 6443 },
      { address: '10.100.0.9', port: 8443, machinePort: 6443 },
    ];
    lab.lb.writeConfig({ vips });
    expect((await lab.lb.router.query(['reload'])).code).toBe(0);
    await waitUntil(async () => (await workers(lab).catch(() => before)).current !== before.current, {
      what: 'a new worker',
    });
    const begun = performance.now();
    await expect
      .poll(async () => (await lab.client.loopReport()).sent, { timeout: 60_000 })
      .toBeGreaterThan(1_000);
    const { failed, reasons } = await lab.client.stopLoop();
    expect({ failed, reasons }).toEqual({ failed: 0, reasons: {} });
    expect(await lab.client.check()).toMatchObject({ alive: watches, broken: 0 });
    expect((await workers(lab)).old).toEqual([before.current]);
    // It keeps them until its time is over, and no longer.
    await waitUntil(async () => (await workers(lab)).old.length === 0, {
      what: 'the old worker has ended',
      timeoutMs: 60_000,
    });
    const took = performance.now() - begun;
    expect(took).toBeGreaterThan(hardStopAfter * 1_000 - 1_000);
    expect(took).toBeLessThan(hardStopAfter * 1_000 + 5_000);
    expect(await lab.client.check()).toMatchObject({ alive: 0, broken: watches });
  });
});
