import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import { hasFrr } from '../../scripts/lab/frr.ts';
import type { Host } from '../../scripts/lab/host.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import { addresses, startMaster, waitForAllActive } from '../kit/cluster.ts';

const connections = 90;

/** A path as FRR's `show bgp ipv4 unicast PREFIX json` has it. */
interface FrrPath {
  readonly metric?: number;
  readonly aspath: { readonly string: string };
  readonly nexthops: readonly { readonly ip: string }[];
  readonly community?: unknown;
  readonly largeCommunity?: unknown;
  readonly stale?: boolean;
}

describe.skipIf(!hasFrr())('FRR 8.4 as the upstream router', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await Lab.create({ masters: 2, upstream: 'frr', controlPlane: 'stand-in' });
    await lab.lb.router.start();
  });
  afterAll(async () => {
    await lab.destroy();
  });

  const paths = async (): Promise<readonly FrrPath[]> =>
    (await lab.upstream.frr.show<{ paths?: FrrPath[] }>(`show bgp ipv4 unicast ${vipAddress}/32 json`))
      .paths ?? [];
  const established = (): Promise<void> =>
    expect
      .poll(() => lab.upstream.sessionState(lab.lb.uplinkAddress), { timeout: 15_000, interval: 50 })
      .toBe('Established');

  it('has a session, and no VIP while the pool is empty', async () => {
    await established();
    expect(await paths()).toEqual([]);
    expect(await lab.upstream.vipGateways()).toEqual([]);
  });

  it('gets the VIP with the first member, with the LB as next hop and nothing internal on it', async () => {
    await startMaster(lab, lab.master(1));
    await lab.upstream.waitForVipRoute(true);
    expect(await lab.lb.pool()).toEqual([lab.master(1).address]);
    expect(await lab.upstream.vipGateways()).toEqual([lab.lb.uplinkAddress]);
    const [path, ...more] = await paths();
    expect(more).toEqual([]);
    expect(path).toMatchObject({ aspath: { string: '64512' }, nexthops: [{ ip: lab.lb.uplinkAddress }] });
    expect({ community: path?.community, largeCommunity: path?.largeCommunity }).toEqual({});
    expect(await lab.client.request()).toMatchObject({ ok: true, master: 'm1' });
  });

  it('hears nothing of members that come and go while one is left', async () => {
    const version = async (): Promise<unknown> =>
      (await lab.upstream.frr.show<{ version?: unknown }>(`show bgp ipv4 unicast ${vipAddress}/32 json`))
        .version;
    const before = await version();
    await startMaster(lab, lab.master(2));
    await lab.lb.waitForPool(addresses(lab.masters));
    await lab.master(2).setApiServer('not-ready');
    await lab.lb.router.waitFor('m2 as a last resort', ({ vips }) =>
      vips.some(({ members }) => members.some(({ state }) => state === 'last-resort')),
    );
    await lab.master(2).setApiServer('closed');
    await lab.lb.waitForPool([lab.master(1).address]);
    await lab.master(2).setApiServer('ready');
    await lab.lb.waitForPool(addresses(lab.masters));
    expect(before).toBeDefined();
    expect(await version()).toEqual(before);
  });

  it('loses the VIP with the last member, and the client is told at once', async () => {
    await Promise.all(lab.masters.map((master) => master.setApiServer('closed')));
    await lab.upstream.waitForVipRoute(false);
    expect(await lab.lb.pool()).toEqual([]);
    const { ok, took } = await lab.client.request();
    expect({ ok, isQuick: took < 500 }).toEqual({ ok: false, isQuick: true });
    await Promise.all(lab.masters.map((master) => master.setApiServer('ready')));
    await lab.upstream.waitForVipRoute(true);
    await waitForAllActive(lab);
  });

  it.each(['kill', 'stop'] as const)(
    'keeps the route over a %s and a start of the router, and nothing is lost',
    async (how) => {
      await lab.client.closeAll();
      await lab.client.open(connections);
      await lab.client.startLoop({ every: 20 });
      const watch = await watchVipRoute(lab.upstream);
      await lab.lb.router[how]();
      await expect.poll(async () => (await paths())[0]?.stale, { timeout: 5_000, interval: 20 }).toBe(true);
      expect(await lab.upstream.vipGateways()).toEqual([lab.lb.uplinkAddress]);
      await lab.lb.router.start();
      await established();
      await expect
        .poll(async () => (await paths()).map(({ stale }) => stale ?? false), { timeout: 10_000 })
        .toEqual([false]);
      await waitForAllActive(lab);
      const { failed, reasons, sent } = await lab.client.stopLoop();
      expect({ failed, reasons }).toEqual({ failed: 0, reasons: {} });
      expect(sent).toBeGreaterThan(20);
      expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
      expect(await watch.deletions()).toEqual([]);
    },
  );

  it('hears what the policy of the neighbor says, and less of a VIP that lacks a member', async () => {
    const [masters = {}, upstream = {}] = lab.lb.neighbors();
    const policy = {
      med: 20,
      prepend: 1,
      communities: ['64512:7', '64512:7:1'],
      degraded: { below: 2, med: 90 },
    };
    await lab.lb.router.stop();
    lab.lb.writeConfig({ neighbors: [masters, { ...upstream, ...policy }] });
    await lab.lb.router.start();
    const heard = async (): Promise<unknown> =>
      (await paths()).map(({ metric, aspath, community, largeCommunity, stale }) => ({
        metric,
        aspath: aspath.string,
        communities: [community, largeCommunity].map(
          (one) => (one as { string?: string } | undefined)?.string,
        ),
        stale: stale ?? false,
      }));
    const whole = {
      metric: 20,
      aspath: '64512 64512',
      communities: ['64512:7', '64512:7:1'],
      stale: false,
    };
    await waitForAllActive(lab);
    await expect.poll(heard, { timeout: 15_000, interval: 50 }).toEqual([whole]);
    await lab.master(2).setApiServer('closed');
    const lacking = { ...whole, metric: 90, aspath: '64512 64512 64512' };
    await expect.poll(heard, { timeout: 15_000, interval: 50 }).toEqual([lacking]);
    await lab.master(2).setApiServer('ready');
    await expect.poll(heard, { timeout: 15_000, interval: 50 }).toEqual([whole]);
  });

  it('comes back by itself when FRR is restarted', async () => {
    await lab.upstream.frr.stop();
    await lab.upstream.waitForVipRoute(false);
    await lab.upstream.startFrr();
    await lab.upstream.waitForVipRoute(true);
    await expect.poll(() => lab.client.request(), { timeout: 5_000 }).toMatchObject({ ok: true });
  });
});

/** Follows the kernel's messages about the VIP's route on a host: a gap of a millisecond is seen too. */
async function watchVipRoute(host: Host): Promise<{ deletions(): Promise<string[]> }> {
  const monitor = host.spawn('ip-monitor', ['ip', '-o', 'monitor', 'route'], { hasPipes: true });
  let text = '';
  monitor.pipes.output.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  // It says nothing of itself when it is there, but it sees what we do.
  await monitor.ready(async () => {
    await host.exec(['ip', 'route', 'replace', 'blackhole', '192.0.2.1']);
    await host.exec(['ip', 'route', 'delete', 'blackhole', '192.0.2.1']);
    return text.includes('192.0.2.1');
  });
  return {
    async deletions(): Promise<string[]> {
      await monitor.kill();
      return text.split('\n').filter((line) => line.startsWith('Deleted') && line.includes(vipAddress));
    },
  };
}
