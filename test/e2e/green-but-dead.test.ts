/** Health checks that pass while clients are not served: their packets come by other ways than those that a load balancer makes. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  hostAddress,
  interfaceAddress,
  subnetRange,
  vipAddress,
  vipPrefixOf,
} from '../../scripts/lab/addresses.ts';
import { hasFrr } from '../../scripts/lab/frr.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import { startCluster, waitForAllActive } from '../kit/cluster.ts';
import { lastEvent, waitForEvent } from '../kit/router-view.ts';

const waiting = { timeout: 60_000, interval: 200 } as const;

/** The status of the VIP, with what clients' own packets say of it. */
interface ClientView {
  readonly status: string;
  readonly clients: { readonly cause: string; readonly text: string } | null;
  readonly members: readonly {
    readonly name: string;
    readonly nextHop: string;
    readonly weight: number;
    readonly health: string;
  }[];
}

describe('clients that are not served although all health checks pass', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startCluster({ masters: 3, controlPlane: 'stand-in' });
  }, 120_000);
  afterAll(async () => {
    await lab?.destroy();
  });

  async function view(): Promise<ClientView> {
    const { vips } = await lab.lb.router.status();
    return vips[0] as unknown as ClientView;
  }

  /** So many new connections, at most a second each, all at once. @returns how many were answered */
  async function connections(count: number): Promise<number> {
    const results = await Promise.all(
      Array.from({ length: count }, () => lab.client.request({ timeout: 900 })),
    );
    return results.filter(({ ok }) => ok).length;
  }

  /** Clients try on until their packets say what becomes of them. None is served. */
  async function untilSeen(cause: string, since: number): Promise<void> {
    await expect
      .poll(async () => {
        expect(await connections(16)).toBe(0);
        return (await view()).clients?.cause;
      }, waiting)
      .toBe(cause);
    await waitForEvent(
      lab,
      since,
      cause,
      (event) => event.type === 'client-evidence' && event['cause'] === cause,
    );
  }

  const doctor = async (): Promise<{ code: number | null; stdout: string }> =>
    await lab.lb.router.command(['doctor', '-o', 'json'], 60_000);

  describe('by one master, with a strict rp_filter and a second uplink', () => {
    afterEach(async () => {
      const master = lab.master(3);
      await master.exec(['ip', 'link', 'del', 'eth1']);
    });

    it('are sent to the others, as their own packets say', async () => {
      const master = lab.master(3);
      // The way back to clients is by the second uplink, and packets for the VIP come by the first: dropped, with mode 1.
      await lab.switch.plug([
        { port: 'm3-eth1', bridge: 'clients', namespace: master.namespace, device: 'eth1', hostNumber: 13 },
      ]);
      await master.exec(['ip', 'address', 'add', interfaceAddress('ipv4', 'clients', 13), 'dev', 'eth1']);
      await master.exec(['ip', 'link', 'set', 'eth1', 'up']);
      await master.writeSysctls({ 'net.ipv4.conf.all.rp_filter': '1' });
      const since = await lastEvent(lab);
      const served = await connections(80);
      expect(served).toBeLessThan(80);
      await expect
        .poll(async () => {
          await connections(20);
          const { members } = await view();
          return members.map(({ name, weight, health }) => `${name} ${weight} ${health}`).sort();
        }, waiting)
        .toEqual(['10.0.0.11 256 passing', '10.0.0.12 256 passing', '10.0.0.13 1 passing']);
      const { reason } = await waitForEvent(
        lab,
        since,
        'the master lowered',
        ({ type, nextHop, to }) =>
          type === 'member-transition' && nextHop === master.address && to === 'last-resort',
      );
      expect(reason).toMatch(
        /^clients established 0 of \d+ connections with it, and (\d+) of \1 with the others$/,
      );
      const { stdout } = await doctor();
      expect(stdout).toContain('connections with it');
      // And the master knows the cause.
      const there = (await master.speaker.command(['doctor', '-o', 'json'], 60_000)).stdout;
      expect(there).toContain('rp_filter is strict here: clients of 10.0.2.0/24 (eth1) are dropped');
      expect(there).toMatch(/\d+ packets were dropped by rp_filter within \d+ s/);
    });
  });

  it('because a firewall of the load balancer drops what is forwarded, which doctor calls a fault', async () => {
    const since = await lastEvent(lab);
    await lab.lb.exec([
      'nft',
      'table ip filter { chain FORWARD { type filter hook forward priority 0; policy drop; }; }',
    ]);
    try {
      await untilSeen('dropped-here', since);
      const { status, clients } = await view();
      expect(clients?.text).toMatch(/^0 of \d+ SYNs that came by eth1 within \d+ s left this host/);
      expect(status).toMatch(/, but packets to .* are dropped by the firewall, chain ip filter FORWARD$/);
      const { code } = await doctor();
      expect(code).toBe(1);
    } finally {
      await lab.lb.exec(['nft', 'delete', 'table', 'ip', 'filter']);
    }
    await expect
      .poll(async () => [await connections(20), (await view()).clients?.cause], waiting)
      .toEqual([20, 'served']);
  });

  it.each([
    ['iif', ['iif', 'eth1']],
    ['from', ['from', subnetRange('ipv4', 'clients')]],
  ])('because a rule by %s leads past the routes of the load balancer', async (_, selector) => {
    const since = await lastEvent(lab);
    const rule = [...selector, 'pref', '100', 'lookup', '77'];
    // A VPN's own table: everything by its gateway.
    await lab.lb.exec(['ip', 'route', 'add', 'blackhole', 'default', 'table', '77']);
    await lab.lb.exec(['ip', 'rule', 'add', ...rule]);
    try {
      await untilSeen('dropped-here', since);
      expect((await doctor()).code).toBe(1);
    } finally {
      await lab.lb.exec(['ip', 'rule', 'del', ...rule]);
      await lab.lb.exec(['ip', 'route', 'flush', 'table', '77']);
    }
    await expect
      .poll(async () => [await connections(20), (await view()).clients?.cause], waiting)
      .toEqual([20, 'served']);
  });

  it('counts what clients send, as metrics', async () => {
    const text = await lab.lb.exec(['curl', '-s', 'http://127.0.0.1:9474/metrics']);
    const value = (name: string): number =>
      Number(new RegExp(`^${name.replaceAll(/[{}"]/g, '\\$&')} (\\d+)$`, 'm').exec(text)?.[1]);
    const syns = (stage: string): number =>
      value(`bgp_lb_router_client_syns_total{vip="${vipPrefixOf('ipv4')}",stage="${stage}"}`);
    expect(syns('arrived')).toBeGreaterThan(syns('forwarded'));
    expect(syns('forwarded')).toBeGreaterThan(0);
    expect(value(`bgp_lb_router_client_doubtful{vip="${vipAddress}/32"}`)).toBe(0);
    expect(hostAddress('ipv4', 'masters', 13)).toBe(lab.master(3).address);
    await waitForAllActive(lab, 120_000);
  });
});

describe.skipIf(!hasFrr())('a load balancer whose routing is known to lead clients astray', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startCluster({ masters: 2, controlPlane: 'stand-in', upstream: 'frr' });
    await lab.upstream.waitForVipRoute(true, 30_000);
  }, 120_000);
  afterAll(async () => {
    await lab?.destroy();
  });

  it('stays ready and announced with an interface that no client comes by and that forwards nothing', async () => {
    await lab.lb.exec(['ip', 'link', 'add', 'mgmt', 'type', 'veth', 'peer', 'name', 'mgmt-peer']);
    try {
      await lab.lb.exec(['ip', 'address', 'add', '192.0.2.1/24', 'dev', 'mgmt']);
      await lab.lb.exec(['ip', 'link', 'set', 'mgmt-peer', 'up']);
      await lab.lb.exec(['sysctl', '-qw', 'net.ipv4.conf.mgmt.forwarding=0']);
      await lab.lb.exec(['ip', 'link', 'set', 'mgmt', 'up']);
      await expect
        .poll(async () => JSON.stringify(await lab.lb.router.status()), { ...waiting, timeout: 20_000 })
        .toContain('(mgmt) have no route');
      expect((await lab.lb.router.status()).vips).toMatchObject([{ ready: true, advertised: true }]);
      await lab.upstream.waitForVipRoute(true, 1000);
      const { code, stdout } = await lab.lb.router.command(['doctor', '-o', 'json'], 60_000);
      const findings = JSON.parse(stdout) as { level: string; value: string }[];
      expect(findings.find(({ value }) => value.includes('(mgmt)'))).toMatchObject({ level: 'warning' });
      expect([code, findings.filter(({ level }) => level === 'fault')]).toEqual([0, []]);
    } finally {
      await lab.lb.exec(['ip', 'link', 'del', 'mgmt']);
    }
  });

  it('is not ready and withdraws the VIP before any client comes, while a firewall lets none through', async () => {
    // As Docker leaves it, without a rule that could be for the VIP.
    const chain =
      'chain FORWARD { type filter hook forward priority 0; policy drop; iifname docker0 accept; }';
    await lab.lb.exec(['nft', `table ip filter { ${chain}; }`]);
    try {
      await lab.upstream.waitForVipRoute(false, 10_000);
      const { vips } = await lab.lb.router.status();
      expect(vips).toMatchObject([
        { ready: false, status: expect.stringContaining('dropped by the firewall, chain ip filter FORWARD') },
      ]);
      const { code, stdout } = await lab.lb.router.command(['doctor', '-o', 'json'], 60_000);
      expect(code).toBe(1);
      expect(stdout).toContain('drops packets of clients to');
      await lab.lb.exec(['nft', 'add rule ip filter FORWARD oifname eth0 tcp dport 6443 accept']);
      await lab.upstream.waitForVipRoute(true, 15_000);
      expect(await lab.client.request({ timeout: 10_000 })).toMatchObject({ ok: true });
    } finally {
      await lab.lb.exec(['nft', 'delete', 'table', 'ip', 'filter']);
    }
  });

  it('is not ready and withdraws the VIP before any client comes, until the way is free again', async () => {
    const rule = ['iif', 'eth1', 'pref', '100', 'lookup', '77'];
    await lab.lb.exec(['ip', 'route', 'add', 'blackhole', 'default', 'table', '77']);
    await lab.lb.exec(['ip', 'rule', 'add', ...rule]);
    await lab.upstream.waitForVipRoute(false, 10_000);
    const { vips } = await lab.lb.router.status();
    expect(vips).toMatchObject([
      { ready: false, status: expect.stringContaining('by ip rule 100 iif eth1 lookup 77') },
    ]);
    const { code, stdout } = await lab.lb.router.command(['doctor', '-o', 'json'], 60_000);
    expect(code).toBe(1);
    expect(stdout).toContain('by ip rule 100 iif eth1 lookup 77');
    await lab.lb.exec(['ip', 'rule', 'del', ...rule]);
    await lab.upstream.waitForVipRoute(true, 10_000);
    expect((await lab.lb.router.status()).vips).toMatchObject([{ ready: true }]);
    expect(await lab.client.request({ timeout: 10_000 })).toMatchObject({ ok: true });
  });
});
