import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { localAsn, vipAddress } from '../../scripts/lab/addresses.ts';
import { type Frr, hasFrr } from '../../scripts/lab/frr.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { addresses, startMaster } from '../kit/cluster.ts';
import { startFrrMaster } from '../kit/frr-master.ts';
import {
  eventsSince,
  lastEvent,
  member,
  metricsOf,
  neighbor,
  routesOf,
  waitForEvent,
} from '../kit/router-view.ts';

describe('a master that is not configured as the others', () => {
  let lab: Lab;
  let odd: MasterHost;
  beforeAll(async () => {
    lab = await Lab.create({ masters: 2 });
    await lab.lb.router.start();
    await startMaster(lab, lab.master(1));
    await lab.lb.waitForPool([lab.master(1).address]);
    odd = lab.master(2);
    await odd.installCertificates(lab.master(1));
    writeFileSync(odd.markerFile, '');
    await odd.startApiServer();
  });
  afterEach(async () => {
    await odd.speaker.kill();
  });
  afterAll(async () => {
    await lab.destroy();
  });

  it('with a wrong password gets no session, and both ends say where to look', async () => {
    odd.writeSpeakerConfig('join');
    writeFileSync(odd.path('etc/bgp-password'), 'another-password\n', { mode: 0o600 });
    await odd.startSpeaker();
    const md5Failures = async (): Promise<number> => {
      const status = await lab.lb.router.status();
      return 'md5' in status ? ((status.md5 as { failure: number } | null)?.failure ?? 0) : 0;
    };
    await expect.poll(md5Failures, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(await neighbor(lab, odd.address)).toBeUndefined();
    const { routers } = await odd.speaker.status();
    expect(routers[0]).toMatchObject({ password: true, establishedCount: 0 });
    expect(routers[0]?.session).not.toBe('Established');
    // Where a person looks, in words.
    const { stdout } = await lab.lb.router.query(['status']);
    expect(stdout).toMatch(/MD5/i);
    expect(stdout).not.toContain('another-password');
    expect(await lab.lb.pool()).toEqual([lab.master(1).address]);
  });

  it('without a password gets no session either', async () => {
    odd.writeSpeakerConfig('join', {
      routers: [{ address: lab.lb.address, asn: localAsn, holdTime: '3s' }],
    });
    await odd.startSpeaker();
    await odd.speaker.waitFor('some attempts', ({ routers }) =>
      routers.some((router) => router.session === 'Connect' || router.session === 'Active'),
    );
    expect(await neighbor(lab, odd.address)).toBeUndefined();
  });

  it('of a wrong AS is refused with Bad Peer AS, and both ends show it', async () => {
    const since = await lastEvent(lab);
    odd.writeSpeakerConfig('join', { asn: 64999 });
    await odd.startSpeaker();
    const refused = await waitForEvent(
      lab,
      since,
      'a NOTIFICATION 2/2 to m2',
      ({ type, code, subcode }) => type === 'neighbor-notification-sent' && code === 2 && subcode === 2,
    );
    expect(refused).toMatchObject({ peer: odd.address, text: expect.stringContaining('Bad Peer AS') });
    // Between two attempts a neighbor of a range is forgotten.
    await expect
      .poll(async () => (await lab.lb.router.query(['neighbors'])).stdout, { timeout: 10_000 })
      .toMatch(new RegExp(`^${odd.address} .*Bad Peer AS`, 'm'));
    await odd.speaker.waitFor('the reason at the speaker', (status) =>
      JSON.stringify(status.routers).includes('Bad Peer AS'),
    );
    expect((await odd.speaker.query(['status'])).stdout).toMatch(/^10\.0\.0\.10 .*Bad Peer AS/m);
    const transitions = (await eventsSince(lab, since)).filter(({ type }) => type === 'neighbor-transition');
    expect(transitions.filter(({ peer, to }) => peer === odd.address && to === 'Established')).toEqual([]);
    expect(
      (await metricsOf(lab)).get('bgp_lb_router_notifications_total{direction="sent",code="2/2"}'),
    ).toBeGreaterThan(0);
    expect(await lab.lb.pool()).toEqual([lab.master(1).address]);
  });
});

describe.skipIf(!hasFrr())('a master that announces what is not its own', () => {
  const vip = `${vipAddress}/32`;
  const lies = ['0.0.0.0/0', '10.100.0.2/32', '10.96.0.0/12', '10.100.0.0/24'];
  let lab: Lab;
  let liar: MasterHost;
  let frr: Frr;

  beforeAll(async () => {
    lab = await Lab.create({ masters: 3, controlPlane: 'stand-in' });
    await lab.lb.router.start();
    await startMaster(lab, lab.master(1));
    await startMaster(lab, lab.master(2));
    liar = lab.master(3);
    const networks = [vip, ...lies].map((prefix) => `network ${prefix}`);
    frr = await startFrrMaster(lab, liar, networks);
    await frr.configure(`router bgp ${localAsn}`, 'no bgp network import-check');
  });
  afterAll(async () => {
    await lab.destroy();
  });

  const rejected = async (): Promise<readonly { prefix: string; reason: string }[]> =>
    (await routesOf(lab)).rejected.filter(({ neighbor: name }) => name === liar.address);

  it('has all of it dropped, counted and shown, and serves by its own good path', async () => {
    await lab.lb.waitForPool(addresses(lab.masters));
    await expect
      .poll(async () => [...new Set((await rejected()).map(({ prefix }) => prefix))].sort(), {
        timeout: 10_000,
      })
      .toEqual([...lies].sort());
    const routes = await routesOf(lab);
    expect(routes.received.filter(({ prefix }) => prefix !== vip)).toEqual([]);
    expect(routes.received.map(({ nextHop }) => nextHop).sort()).toEqual(addresses(lab.masters));
    const counter = 'bgp_lb_router_rejected_paths_total{neighbor="masters",reason="not a configured VIP"}';
    expect((await metricsOf(lab)).get(counter)).toBeGreaterThanOrEqual(lies.length);
    const { stdout } = await lab.lb.router.query(['routes']);
    for (const prefix of lies) expect(stdout).toContain(`not a configured VIP: ${prefix}`);
    expect(await member(lab, liar)).toMatchObject({ state: 'active', weight: 256 });
  });

  it('changes nothing in the kernel of the LB but by its own path', async () => {
    const routes = await lab.lb.ipJson<{ dst: string; protocol?: string }[]>('route', 'show', 'table', 'all');
    const destinations = routes.filter(({ protocol }) => protocol === '84' || protocol === 'bgp-lb');
    expect([...new Set(destinations.map(({ dst }) => dst))]).toEqual([vipAddress]);
    const [standard] = await lab.lb.ipJson<{ gateway?: string }[]>('route', 'show', 'default');
    expect(standard?.gateway).toBe('10.0.1.1');
  });

  it('is out with a path whose next hop is somebody else, who gets no more for it', async () => {
    const victim = lab.master(1);
    await frr.configure(
      'route-map foreign permit 10',
      `set ip next-hop ${victim.address}`,
      'exit',
      `router bgp ${localAsn}`,
      'address-family ipv4 unicast',
      `neighbor ${lab.lb.address} route-map foreign out`,
    );
    await lab.lb.waitForPool([lab.master(1).address, lab.master(2).address]);
    expect(await rejected()).toContainEqual({
      neighbor: liar.address,
      prefix: vip,
      reason: `next hop is not the peer: ${victim.address}`,
    });
    const received = (await routesOf(lab)).received.map(({ neighbor: name, nextHop }) => [name, nextHop]);
    expect(received.sort()).toEqual([1, 2].map((n) => [lab.master(n).address, lab.master(n).address]));
    const counter =
      'bgp_lb_router_rejected_paths_total{neighbor="masters",reason="next hop is not the peer"}';
    expect((await metricsOf(lab)).get(counter)).toBeGreaterThan(0);
    expect(await member(lab, victim)).toMatchObject({ state: 'active', weight: 256 });
    expect(await lab.client.request()).toMatchObject({ ok: true });
  });

  it('is back as soon as it tells the truth', async () => {
    await frr.configure(
      `router bgp ${localAsn}`,
      'address-family ipv4 unicast',
      `no neighbor ${lab.lb.address} route-map foreign out`,
    );
    await lab.lb.waitForPool(addresses(lab.masters));
  });
});
