import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { addresses, brokenAt, heal, others, startCluster, waitForAllActive } from '../kit/cluster.ts';

const connections = 150;

describe('a cluster of five masters with long connections', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startCluster({ masters: 5 });
  });
  afterAll(async () => {
    await lab.destroy();
  });

  beforeEach(async () => {
    await heal(lab);
    await lab.client.closeAll();
  });

  async function connect(): Promise<void> {
    await lab.client.closeAll();
    const { opened, failed } = await lab.client.open(connections);
    expect({ opened, failed }).toEqual({ opened: connections, failed: 0 });
  }

  it.each([1, 3, 5])(
    'breaks no connection of the others when master %i dies in silence, nor when it returns',
    async (n) => {
      const victim = lab.master(n);
      await connect();
      await victim.powerOff();
      await lab.lb.waitForPool(addresses(others(lab, victim)));
      const after = await lab.client.check();
      expect(brokenAt(others(lab, victim), after.brokenByMaster)).toBe(0);
      expect(after.alive).toBeGreaterThan(0);

      await connect();
      await victim.powerOn();
      await Promise.all([victim.startApiServer(), victim.startSpeaker()]);
      await lab.lb.waitForPool(addresses(lab.masters));
      expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
    },
  );

  it('breaks no connection of the others when an API server stops, and takes its master out', async () => {
    const victim = lab.master(2);
    await connect();
    const stopped = victim.stopApiServer();
    await lab.lb.waitForPool(addresses(others(lab, victim)));
    await stopped;
    const { brokenByMaster } = await lab.client.check();
    expect(brokenAt(others(lab, victim), brokenByMaster)).toBe(0);
    await waitUntil(async () => !(await victim.hasVip()), { what: 'm2 without the VIP' });
  });

  it('breaks no connection when speakers are killed and started again', async () => {
    await connect();
    await Promise.all(lab.masters.map(({ speaker }) => speaker.kill()));
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
    await Promise.all(lab.masters.map((master) => master.startSpeaker()));
    await waitForAllActive(lab);
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
  });

  it('breaks no connection when speakers are stopped and started again as in an upgrade', async () => {
    await connect();
    for (const master of lab.masters) {
      await master.speaker.stop();
      expect(await master.hasVip()).toBe(true);
      await master.startSpeaker();
    }
    await waitForAllActive(lab);
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
  });

  it.each(['kill', 'stop'] as const)('loses no request when the router has a %s and a start', async (how) => {
    await connect();
    await lab.client.startLoop({ every: 20 });
    await lab.lb.router[how]();
    await lab.lb.router.start();
    await waitForAllActive(lab);
    const { sent, failed, reasons } = await lab.client.stopLoop();
    expect(sent).toBeGreaterThan(10);
    expect({ failed, reasons }).toEqual({ failed: 0, reasons: {} });
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
  });

  it('takes a master out whose API server is killed, and breaks no connection of the others', async () => {
    const victim = lab.master(3);
    await connect();
    await victim.apiServer?.kill();
    await lab.lb.waitForPool(addresses(others(lab, victim)), 3_000);
    expect(brokenAt(others(lab, victim), (await lab.client.check()).brokenByMaster)).toBe(0);
    await waitUntil(async () => !(await victim.hasVip()), { what: 'm3 without the VIP' });
  });

  it('breaks no connection when the router and all speakers are killed together', async () => {
    await connect();
    await Promise.all(
      [lab.lb.router, ...lab.masters.map(({ speaker }) => speaker)].map((daemon) => daemon.kill()),
    );
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
    await lab.lb.router.start();
    await Promise.all(lab.masters.map((master) => master.startSpeaker()));
    await waitForAllActive(lab);
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
  });

  it('takes a master out at once whose speaker was killed when its API server dies too', async () => {
    const victim = lab.master(4);
    await victim.speaker.kill();
    await lab.lb.router.waitFor('m4 stale', ({ vips }) =>
      vips.some(({ members }) =>
        members.some(({ nextHop, state }) => nextHop === victim.address && state === 'stale'),
      ),
    );
    await victim.apiServer?.kill();
    await lab.lb.waitForPool(addresses(others(lab, victim)), 3_000);
  });
});

describe('the connection test itself', () => {
  it('sees connections of survivors break when the kernel has plain multipath', async () => {
    const lab = await startCluster({ masters: 5 });
    try {
      // The router gives way to what FRR or BIRD would program: a plain multipath route without a memory.
      await lab.lb.router.kill();
      const victim = lab.master(2);
      const route = (masters: readonly MasterHost[]): Promise<string> =>
        lab.lb.exec([
          ...['ip', 'route', 'replace', '10.100.0.1/32'],
          ...addresses(masters).flatMap((address) => ['nexthop', 'via', address, 'dev', 'eth0']),
        ]);
      await lab.lb.exec(['ip', 'route', 'delete', '10.100.0.1/32', 'proto', '84', 'metric', '0']);
      await route(lab.masters);
      await lab.client.open(connections);
      await route(others(lab, victim));
      const { brokenByMaster } = await lab.client.check();
      expect(brokenAt(others(lab, victim), brokenByMaster)).toBeGreaterThan(0);
    } finally {
      await lab.destroy();
    }
  });
});
