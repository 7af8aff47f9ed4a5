import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AddressFamily, vipOf, vipPrefixOf } from '../../scripts/lab/addresses.ts';
import { hasFrr } from '../../scripts/lab/frr.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import { addresses, brokenAt, others, startMaster, waitForAllActive } from '../kit/cluster.ts';
import { lastEvent, routesOf, waitForEvent } from '../kit/router-view.ts';

const connections = 40;

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

describe('a cluster without IPv4', () => {
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
      speaker: { drain: { timeout: '60s' }, apiServer: { timeout: '5s', fall: 5 } },
    });
    await lab.lb.router.start();
  });
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
      20_000,
    );
    expect((await routesOf(lab)).received).toEqual([]);
    expect(await forwarding(lab, 'ipv6')).toEqual({ type: 'none', gateways: [] });
    expect(await lab.upstream.vipGateways()).toEqual(hasFrr() ? [] : [lab.lb.uplinkAddress]);

    writeFileSync(first.markerFile, '');
    await lab.lb.waitForPool([first.address], 20_000);
    expect((await routesOf(lab)).received).toMatchObject([
      { neighbor: first.address, prefix: vip, nextHop: first.address },
    ]);
  });

  it('forwards to all masters by a resilient group of their global addresses, each proven by a request through it', async () => {
    await Promise.all(lab.masters.slice(1).map((master) => startMaster(lab, master)));
    await waitForAllActive(lab);
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
    await lab.upstream.waitForVipRoute(true);
    // FRR prefers a link-local next hop where it gets one; ours sends the global address alone.
    expect(await lab.upstream.vipGateways()).toEqual([lab.lb.uplinkAddress]);
  });

  it('serves clients by the VIP and its mapped port, and by nothing else of the masters', async () => {
    const request = await lab.client.request();
    expect(request).toMatchObject({ ok: true, status: 200 });
    expect(lab.masters.map(({ name }) => name)).toContain(request.master);
    // 443 is but a mapping of the VIP, and the API servers' own port is not reached by the VIP.
    expect(await lab.client.request({ host: lab.master(1).address })).toMatchObject({
      ok: false,
      error: 'ECONNREFUSED',
    });
    expect(await lab.client.request({ port: 6443 })).toMatchObject({ ok: false, error: 'ECONNREFUSED' });
  });

  it('breaks the connections to a master that dies in silence, found by BFD, and no other', async () => {
    const opened = await lab.client.open(connections, { connectTimeout: 20_000 });
    expect(opened).toMatchObject({ opened: connections, failed: 0 });
    await lab.lb.router.waitFor('BFD Up with all members', ({ vips }) =>
      vips.every(({ members }) => members.every(({ bfd }) => bfd === 'Up')),
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
    );
    expect(out['reason']).toMatch(/^BFD down/);
    await lab.lb.waitForPool(addresses(others(lab, victim)));
    const { brokenByMaster } = await lab.client.check(10_000);
    expect(brokenAt(others(lab, victim), brokenByMaster)).toBe(0);

    const { alive } = await lab.client.check(10_000);
    await victim.reconnect();
    await waitForAllActive(lab);
    expect(await lab.client.check(10_000)).toMatchObject({ alive });
    await lab.client.closeAll();
  });

  it('lets a master leave without a broken connection', async () => {
    const opened = await lab.client.open(connections, { lifetime: 2_000, connectTimeout: 20_000 });
    expect(opened).toMatchObject({ opened: connections, failed: 0 });
    const leaving = lab.master(2);
    expect(opened.byMaster[leaving.name]).toBeGreaterThan(0);
    const { code, stdout, stderr } = await leaving.speaker.query(['drain', '-o', 'json'], 60_000);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ isDone: true, connections: 0, reset: [] });
    expect(await lab.lb.pool()).not.toContain(leaving.address);
    expect(await leaving.hasVip()).toBe(false);
    await expect
      .poll(() => lab.client.check(10_000), { timeout: 30_000 })
      .toMatchObject({ alive: 0, broken: 0, finished: connections });
    await leaving.speaker.request('POST', '/api/v1/undrain');
    await waitForAllActive(lab);
  });

  it('refuses clients at once when no master is left', async () => {
    await Promise.all(lab.masters.map((master) => master.setApiServer('closed')));
    await lab.lb.waitForPool([], 20_000);
    if (hasFrr()) await lab.upstream.waitForVipRoute(false);
    const { ok, error } = await lab.client.request({ timeout: 20_000 });
    expect(ok).toBe(false);
    expect(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH']).toContain(error);
  });
});

describe('a cluster with both families', () => {
  const families = ['ipv4', 'ipv6'] as const;
  let lab: Lab;
  beforeAll(async () => {
    lab = await Lab.create({ families, masters: 2, controlPlane: 'stand-in' });
    await lab.lb.router.start();
    for (const master of lab.masters) await startMaster(lab, master);
    await waitForAllActive(lab);
  });
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
      expect(rejected).toEqual([]);
      expect(await forwarding(lab, family)).toEqual({ type: 'resilient', gateways: of(family) });
      expect(await lab.client.request({ host: vipOf(family) })).toMatchObject({ ok: true });
    },
  );

  it('loses a master that dies in both, and serves on in both', async () => {
    const [first, second] = [lab.master(1), lab.master(2)];
    await second.disconnect();
    for (const family of families) await lab.lb.waitForPool([first.addressOf(0, family)], 10_000, family);
    for (const family of families) {
      expect(await lab.client.request({ host: vipOf(family), timeout: 20_000 })).toMatchObject({
        ok: true,
        master: first.name,
      });
    }
  });
});
