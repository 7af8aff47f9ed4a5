import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AddressFamily, vipOf, vipPrefixOf } from '../../scripts/lab/addresses.ts';
import { hasFrr } from '../../scripts/lab/frr.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import { addresses, brokenAt, others, startMaster, waitForAllActive } from '../kit/cluster.ts';
import { lastEvent, routesOf, waitForEvent } from '../kit/router-view.ts';

const connections = 40;

/** Milliseconds for what takes a few seconds on a machine that has nothing else to do. */
const patience = 60_000;
/** Milliseconds for a client's request or connection. */
const timeout = 20_000;
/** The most for a test or a hook, which may wait for several such things. */
const TIMEOUT = 240_000;

/** What the kernel of the load balancer forwards a VIP by: the kind of its group, and the gateways of its members. */
async function forwarding(lab: Lab, family: AddressFamily): Promise<{ type: string; gateways: string[] }> {
  const [route] = await lab.lb.ipJson<{ nhid?: number }[]>(
    ...[family === 'ipv4' ? '-4' : '-6', 'route', 'show', vipPrefixOf(family), 'metric', '84'],
  );
  const nexthops =
    await lab.lb.ipJson<{ id: number; gateway?: string; type?: string; group?: { id: number }[] }[]>(
      'nexthop',
    );
  const group = nexthops.find(({ id }) => id === route?.nhid);
  const members = group?.group?.map(({ id }) => nexthops.find((one) => one.id === id)?.gateway ?? '') ?? [];
  // A member that was alone has a twin with the same gateway.
  return { type: group?.type ?? 'none', gateways: [...new Set(members)].sort() };
}

describe('a cluster without IPv4', { timeout: TIMEOUT }, () => {
  const vip = vipPrefixOf('ipv6');
  let lab: Lab;
  beforeAll(async () => {
    lab = await Lab.create({
      families: ['ipv6'],
      masters: 3,
      upstream: hasFrr() ? 'frr' : 'static',
      vipPort: 443,
      controlPlane: 'stand-in',
      // A machine that is busy is not to look like an API server that is not well.
      speaker: { drain: { timeout: '60s' }, apiServer: { timeout: '2s', fall: 5 } },
    });
    await lab.lb.router.start();
  }, TIMEOUT);
  afterAll(async () => {
    await lab?.destroy();
  });

  it('has sessions by IPv6, and no route of a master whose bootstrap is not proven', async () => {
    const first = lab.master(1);
    await first.installCertificates();
    first.writeSpeakerConfig('init');
    await first.startApiServer();
    await first.startSpeaker();
    await first.speaker.waitFor(
      'ready, and held back by the missing proof of bootstrap',
      ({ gates, routers, vips }) =>
        routers.every(({ address, session }) => address === lab.lb.address && session === 'Established') &&
        gates.some(({ name, pass }) => name === 'readyz' && pass) &&
        gates.some(({ name, pass }) => name === 'bootstrap' && !pass) &&
        vips.every(({ state }) => state === 'local-only'),
      patience,
    );
    expect((await routesOf(lab)).received).toEqual([]);
    expect(await forwarding(lab, 'ipv6')).toEqual({ type: 'none', gateways: [] });
    expect(await lab.upstream.vipGateways()).toEqual(hasFrr() ? [] : [lab.lb.uplinkAddress]);

    writeFileSync(first.markerFile, '');
    await lab.lb.waitForPool([first.address], patience);
    expect((await routesOf(lab)).received).toMatchObject([
      { neighbor: first.address, prefix: vip, nextHop: first.address },
    ]);
  });

  it('forwards to all masters by a resilient group of their global addresses, each proven by a request through it', async () => {
    await Promise.all(lab.masters.slice(1).map((master) => startMaster(lab, master)));
    await waitForAllActive(lab, patience);
    expect(await forwarding(lab, 'ipv6')).toEqual({
      type: 'resilient',
      gateways: addresses(lab.masters).sort(),
    });
    const { vips } = await lab.lb.router.status();
    expect(vips).toMatchObject([{ vip, endpoint: `[${vipOf('ipv6')}]:443` }]);
    const health = vips.flatMap(({ members }) => members.map((member) => member.health));
    expect(health).toEqual(['passing', 'passing', 'passing']);
    // What masters hear of each other by reflection, they use for drains, and never in their kernels.
    for (const master of lab.masters) {
      const foreign = await master.ipJson<{ type?: string; gateway?: string }[]>('-6', 'route', 'show', vip);
      expect(foreign.filter(({ gateway }) => gateway !== undefined)).toEqual([]);
    }
  });

  it.skipIf(!hasFrr())('announces the VIP to FRR by IPv6, with the load balancer as next hop', async () => {
    await lab.upstream.waitForVipRoute(true, patience);
    // FRR prefers a link-local next hop where it gets one; ours sends the global address alone.
    expect(await lab.upstream.vipGateways()).toEqual([lab.lb.uplinkAddress]);
  });

  it('serves clients by the VIP and its mapped port, and by nothing else of the masters', async () => {
    const request = await lab.client.request({ timeout });
    expect(request).toMatchObject({ ok: true, status: 200 });
    expect(lab.masters.map(({ name }) => name)).toContain(request.master);
    // 443 is but a mapping of the VIP, and the API servers' own port is not reached by the VIP.
    expect(await lab.client.request({ host: lab.master(1).address, timeout })).toMatchObject({
      ok: false,
      error: 'ECONNREFUSED',
    });
    expect(await lab.client.request({ port: 6443, timeout })).toMatchObject({
      ok: false,
      error: 'ECONNREFUSED',
    });
  });

  it('breaks the connections to a master that dies in silence, found by BFD, and no other', async () => {
    const opened = await lab.client.open(connections, { connectTimeout: timeout });
    expect(opened).toMatchObject({ opened: connections, failed: 0 });
    await lab.lb.router.waitFor(
      'BFD Up with all members',
      ({ vips }) => vips.every(({ members }) => members.every(({ bfd }) => bfd === 'Up')),
      patience,
    );
    const victim = lab.master(3);
    expect(opened.byMaster[victim.name]).toBeGreaterThan(0);
    const before = await lastEvent(lab);
    await victim.disconnect();
    const out = await waitForEvent(
      lab,
      before,
      `${victim.name} out`,
      ({ type, nextHop, to }) => type === 'member-transition' && nextHop === victim.address && to === 'out',
      patience,
    );
    expect(out['reason']).toMatch(/^BFD down/);
    await lab.lb.waitForPool(addresses(others(lab, victim)), patience);
    const { brokenByMaster } = await lab.client.check(10_000);
    expect(brokenAt(others(lab, victim), brokenByMaster)).toBe(0);

    const { alive } = await lab.client.check(10_000);
    await victim.reconnect();
    await waitForAllActive(lab, patience);
    expect(await lab.client.check(10_000)).toMatchObject({ alive });
    await lab.client.closeAll();
  });

  it('lets a master leave without a broken connection', async () => {
    const opened = await lab.client.open(connections, { lifetime: 3_000, connectTimeout: timeout });
    expect(opened).toMatchObject({ opened: connections, failed: 0 });
    const leaving = lab.master(2);
    expect(opened.byMaster[leaving.name]).toBeGreaterThan(0);
    const { code, stdout, stderr } = await leaving.speaker.query(['drain', '-o', 'json'], patience * 2);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ isDone: true, connections: 0, reset: [] });
    expect(await lab.lb.pool()).not.toContain(leaving.address);
    expect(await leaving.hasVip()).toBe(false);
    await expect
      .poll(() => lab.client.check(10_000), { timeout: patience })
      .toMatchObject({ alive: 0, broken: 0, finished: connections });
    await leaving.speaker.request('POST', '/api/v1/undrain');
    await waitForAllActive(lab, patience);
  });

  it('refuses clients at once when no master is left', async () => {
    await Promise.all(lab.masters.map((master) => master.setApiServer('closed')));
    await lab.lb.waitForPool([], patience);
    if (hasFrr()) await lab.upstream.waitForVipRoute(false, patience);
    const { ok, error } = await lab.client.request({ timeout });
    expect(ok).toBe(false);
    expect(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH']).toContain(error);
  });
});

describe('a cluster with both families', { timeout: TIMEOUT }, () => {
  const families = ['ipv4', 'ipv6'] as const;
  let lab: Lab;
  beforeAll(async () => {
    const upstream = hasFrr() ? 'frr' : 'static';
    lab = await Lab.create({ families, masters: 2, upstream, controlPlane: 'stand-in' });
    await lab.lb.router.start();
    await startMaster(lab, lab.master(1));
    await startMaster(lab, lab.master(2));
    await waitForAllActive(lab, patience);
  }, TIMEOUT);
  afterAll(async () => {
    await lab?.destroy();
  });

  const of = (family: AddressFamily): string[] =>
    lab.masters.map((master) => master.addressOf(0, family)).sort();

  it.each(families)(
    'has a pool of its own for the VIP of each, fed by the sessions of that family: %s',
    async (family) => {
      const { received, rejected } = await routesOf(lab);
      const own = received.filter(({ prefix }) => prefix === vipPrefixOf(family));
      expect(own.map(({ neighbor, nextHop }) => [neighbor, nextHop]).sort()).toEqual(
        of(family).map((address) => [address, address]),
      );
      expect(rejected.filter(({ neighbor }) => !neighbor.startsWith('upstream'))).toEqual([]);
      expect(await forwarding(lab, family)).toEqual({ type: 'resilient', gateways: of(family) });
      await expect
        .poll(() => lab.upstream.vipGateways(family), { timeout: patience, interval: 50 })
        .toEqual([lab.lb.uplinkAddressOf(family)]);
      expect(await lab.client.request({ host: vipOf(family), timeout })).toMatchObject({ ok: true });
    },
  );

  it.skipIf(!hasFrr()).each<AddressFamily>(['ipv4', 'ipv6'])(
    'announces both VIPs to FRR in one session where the next hop for the other one is said: %s',
    async (own) => {
      const other: AddressFamily = own === 'ipv4' ? 'ipv6' : 'ipv4';
      const { frr } = lab.upstream;
      // FRR announces in a session what is active there. IPv4 is by default.
      const [inSession, alone] = [own, other].map((family) => lab.lb.uplinkAddressOf(family));
      await frr.configure(
        'router bgp 65001',
        `no neighbor ${alone}`,
        `neighbor ${inSession} remote-as 64512`,
        `neighbor ${inSession} timers connect 1`,
        'address-family ipv6 unicast',
        `neighbor ${inSession} activate`,
      );
      const kept = lab.lb
        .neighbors()
        .filter(({ role, address }) => role !== 'upstream' || address === lab.upstream.addressOf(1, own));
      lab.lb.writeConfig({
        neighbors: kept.map((one) => (one['role'] === 'upstream' ? { ...one, otherNextHop: alone } : one)),
      });
      expect(await lab.lb.router.query(['reload'])).toMatchObject({ code: 0 });
      for (const family of families) {
        await expect
          .poll(() => lab.upstream.vipGateways(family), { timeout: patience, interval: 50 })
          .toEqual([lab.lb.uplinkAddressOf(family)]);
      }
      expect(await lab.client.request({ host: vipOf(other), timeout })).toMatchObject({ ok: true });
      const { advertised } = await routesOf(lab);
      const told = advertised.filter(({ neighbor }) => neighbor.startsWith('upstream'));
      expect(new Set(told.map(({ neighbor }) => neighbor)).size).toBe(1);
      expect(told.map(({ prefix, nextHop }) => [prefix, nextHop]).sort()).toEqual(
        families.map((family) => [vipPrefixOf(family), lab.lb.uplinkAddressOf(family)]).sort(),
      );
    },
  );

  it('loses a master whose IPv6 is broken in that pool alone', async () => {
    const [first, second] = [lab.master(1), lab.master(2)];
    const rules = `table ip6 cut {
      chain in { type filter hook input priority -400; drop; }
      chain out { type filter hook output priority -400; drop; }
    }`;
    await second.exec(['nft', '-f', '-'], { input: `${rules}\n` });
    await lab.lb.waitForPool([first.addressOf(0, 'ipv6')], patience, 'ipv6');
    expect(await lab.lb.pool()).toEqual(of('ipv4'));
    expect(await lab.client.request({ host: vipOf('ipv6'), timeout })).toMatchObject({ master: first.name });
    await second.exec(['nft', 'delete', 'table', 'ip6', 'cut']);
    await waitForAllActive(lab, patience);
  });

  it('loses a master that dies in both, and serves on in both', async () => {
    const [first, second] = [lab.master(1), lab.master(2)];
    await second.disconnect();
    for (const family of families) await lab.lb.waitForPool([first.addressOf(0, family)], patience, family);
    for (const family of families) {
      expect(await lab.client.request({ host: vipOf(family), timeout })).toMatchObject({
        ok: true,
        master: first.name,
      });
    }
  });
});
