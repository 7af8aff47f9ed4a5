import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceOf, vipAddress } from '../../scripts/lab/addresses.ts';
import { issueServingCertificate } from '../../scripts/lab/cluster-pki.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { BgpCapture } from '../kit/bgp-capture.ts';
import { addresses } from '../kit/cluster.ts';
import { httpOn } from '../kit/host-http.ts';
import { eventsSince, lastEvent, metricsOf, routesOf } from '../kit/router-view.ts';

const eventually = { timeout: 30_000, interval: 100 };
const first = { address: vipAddress, port: 6443, machinePort: 6443 };
/** The speakers have it from the beginning, the router not. */
const second = { address: '10.100.0.2', port: 6443, machinePort: 6443 };

interface Fib {
  readonly vips: readonly { readonly vip: string; readonly detail: Readonly<Record<string, unknown>> }[];
}

describe('a running router whose VIPs change', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await Lab.create({
      masters: 2,
      upstream: 'frr',
      bfd: null,
      controlPlane: 'stand-in',
      speaker: { vips: [first, second] },
    });
    await lab.lb.router.start();
    for (const master of lab.masters) await start(master);
    await lab.lb.waitForPool(addresses(lab.masters), 20_000);
    await lab.upstream.waitForVipRoute(true);
    // 20 connections through the VIP that stays: at the end all of them live.
    expect(await lab.client.open(20)).toMatchObject({ opened: 20 });
  });
  afterAll(async () => {
    await lab?.destroy();
  });

  /** As `startMaster`, with the second VIP in the certificate. */
  async function start(master: MasterHost): Promise<void> {
    const isFirst = master === lab.master(1);
    await master.installCertificates(isFirst ? undefined : lab.master(1));
    await issueServingCertificate(master.pkiFolder, {
      nodeName: master.name,
      nodeAddress: master.address,
      serviceAddress: serviceOf('ipv4'),
      endpointAddress: vipAddress,
      certSANs: [second.address],
    });
    writeFileSync(master.markerFile, '');
    master.writeSpeakerConfig(isFirst ? 'init' : 'join');
    await master.startApiServer();
    await master.startSpeaker();
  }

  async function reloadWith(...vips: readonly (typeof first)[]): Promise<unknown> {
    lab.lb.writeConfig({ vips });
    const { code, stdout, stderr } = await lab.lb.router.query(['reload', '-o', 'json']);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return JSON.parse(stdout);
  }

  /** What the router says on its sessions, by neighbor, while `act` runs and until its next KEEPALIVE on each. */
  async function said(act: () => Promise<void>): Promise<Record<string, readonly string[]>> {
    const captures = new Map<string, BgpCapture>();
    try {
      for (const address of addresses(lab.masters)) {
        captures.set(address, await BgpCapture.start(lab.lb, address, 'internal'));
      }
      captures.set('upstream', await BgpCapture.start(lab.lb, '10.0.1.1', 'external'));
      await act();
      const done = Date.now();
      const isOver = ({ messages }: BgpCapture): boolean =>
        messages.some(({ from, at, text }) => from === 'router' && at > done && text === 'KEEPALIVE');
      await expect.poll(() => [...captures.values()].every(isOver), eventually).toBe(true);
      return Object.fromEntries(
        [...captures].map(([name, { messages }]) => [
          name,
          messages
            .filter(({ from, text }) => from === 'router' && text !== 'KEEPALIVE')
            .map(({ text }) => text),
        ]),
      );
    } finally {
      await Promise.all([...captures.values()].map((capture) => capture.stop()));
    }
  }

  const sessions = async (): Promise<unknown> => {
    const all = (await lab.lb.router.request('GET', '/api/v1/neighbors')) as unknown as readonly {
      name: string;
      establishedCount: number;
    }[];
    return all.map(({ name, establishedCount }) => [name, establishedCount]);
  };

  const requestTo = (port: number) =>
    httpOn(lab.client, { protocol: 'https:', host: second.address, port, path: '/readyz', timeout: 10_000 });

  /** Members of the second VIP that serve. */
  async function serving(): Promise<readonly string[]> {
    const { vips } = await lab.lb.router.status();
    const pool = vips.find(({ vip }) => vip === `${second.address}/32`);
    return (pool?.members ?? []).filter(({ inPool }) => inPool).map(({ nextHop }) => nextHop);
  }

  const upstreamHas = async (): Promise<boolean> =>
    JSON.stringify(await lab.upstream.frr.show('show bgp ipv4 unicast json')).includes(second.address);
  const routes = async (): Promise<string> => lab.lb.exec(['ip', 'route', 'show', 'table', 'all']);
  const firewall = async (): Promise<string> =>
    lab.lb.exec(['nft', 'list', 'table', 'inet', 'bgp_lb_router']);
  const groupOfFirst = async (): Promise<unknown> => {
    const { vips } = (await lab.lb.router.request('GET', '/api/v1/fib')) as unknown as Fib;
    return vips.find(({ vip }) => vip === `${vipAddress}/32`)?.detail['groupId'];
  };

  it('takes a new one into use, which masters had announced before, and tells nobody anything of the other', async () => {
    const before = await sessions();
    const group = await groupOfFirst();
    const sequence = await lastEvent(lab);
    expect((await routesOf(lab)).rejected.map(({ reason }) => reason)).toContain(
      `not a configured VIP: ${second.address}/32`,
    );
    const messages = await said(async () => {
      expect(await reloadWith(first, second)).toMatchObject({
        vips: { added: [second.address], removed: [], changed: [] },
        changed: [],
      });
      await expect.poll(serving, eventually).toEqual(addresses(lab.masters));
      await expect.poll(upstreamHas, eventually).toBe(true);
    });
    for (const address of addresses(lab.masters)) {
      expect(messages[address]).toContain('ROUTE-REFRESH 1/1 subtype 0');
    }
    const updates = Object.values(messages)
      .flat()
      .filter((text) => text.startsWith('UPDATE'));
    expect(updates.length).toBeGreaterThan(0);
    expect(updates.filter((text) => text.includes(`${vipAddress}/32`))).toEqual([]);
    await expect.poll(async () => (await requestTo(6443)).status, eventually).toBe(200);
    // Nothing but VIP:port.
    expect((await requestTo(10_250)).error).toBe('ECONNREFUSED');
    expect(await sessions()).toEqual(before);
    expect(await groupOfFirst()).toBe(group);
    const events = await eventsSince(lab, sequence);
    // What clients' own packets say of it is no consequence of the reload.
    const isConsequence = (type: unknown): boolean => type !== 'probe' && type !== 'client-evidence';
    expect(events.filter(({ type, vip }) => isConsequence(type) && vip === `${vipAddress}/32`)).toEqual([]);
  });

  it('gives one another port, by the firewall and the health check alone', async () => {
    const messages = await said(async () => {
      expect(await reloadWith(first, { ...second, port: 7443 })).toMatchObject({
        vips: { added: [], removed: [], changed: [second.address] },
      });
      await expect.poll(firewall, eventually).toMatch(/dport 7443 accept/);
      await expect
        .poll(async () => (await requestTo(6443)).error, eventually)
        .toMatch(/^E(CONNREFUSED|HOSTUNREACH|NETUNREACH)$/);
      // Nothing listens on that port behind the VIP: the probes go there.
      await expect.poll(serving, eventually).toEqual([]);
    });
    expect(
      Object.values(messages)
        .flat()
        .filter((text) => text.includes(`${vipAddress}/32`)),
    ).toEqual([]);
    expect(await reloadWith(first, second)).toMatchObject({ vips: { changed: [second.address] } });
    await expect.poll(serving, eventually).toEqual(addresses(lab.masters));
    await expect.poll(async () => (await requestTo(6443)).status, eventually).toBe(200);
  });

  it('withdraws one that is removed, forwards it until the upstream has heard, and leaves nothing of it', async () => {
    await expect.poll(upstreamHas, eventually).toBe(true);
    const before = await sessions();
    const messages = await said(async () => {
      expect(await reloadWith(first)).toMatchObject({ vips: { removed: [second.address] } });
      // Withdrawn, and forwarded as it was for a moment more.
      expect(await routes()).toContain(second.address);
      await expect.poll(upstreamHas, eventually).toBe(false);
      await expect.poll(routes, eventually).not.toContain(second.address);
      await expect.poll(firewall, eventually).not.toContain(second.address);
    });
    expect(messages['upstream']).toEqual([
      expect.stringMatching(/^UPDATE withdraw 10\.100\.0\.2\/32 path \d+$/),
    ]);
    for (const address of addresses(lab.masters)) {
      expect(messages[address]?.filter((text) => !text.startsWith('UPDATE withdraw'))).toEqual([]);
    }
    expect(
      Object.values(messages)
        .flat()
        .filter((text) => text.includes(`${vipAddress}/32`)),
    ).toEqual([]);
    expect(await sessions()).toEqual(before);
    expect(
      [...(await metricsOf(lab)).keys()].filter((name) => name.startsWith('bgp_lb_router_vip_forwarding')),
    ).toEqual([`bgp_lb_router_vip_forwarding{vip="${vipAddress}/32"}`]);
  });

  it('takes one back that was removed a moment before, without a gap for its clients', async () => {
    await reloadWith(first, second);
    await expect.poll(serving, eventually).toEqual(addresses(lab.masters));
    const sequence = await lastEvent(lab);
    await reloadWith(first);
    await reloadWith(first, second);
    await expect.poll(serving, eventually).toEqual(addresses(lab.masters));
    const gone = (await eventsSince(lab, sequence)).filter(
      ({ type, vip, nextHops }) =>
        type === 'vip-forwarding' && vip === `${second.address}/32` && JSON.stringify(nextHops) === '[]',
    );
    expect(gone).toEqual([]);
  });

  it('has broken no connection through the one that stayed', async () => {
    expect(await lab.client.check(30_000)).toMatchObject({ alive: 20, broken: 0, reasons: {} });
  });
});
