/** Load balancer and masters in an overlay of WireGuard, where an address belongs to one peer, with an MTU of 1280. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import { inNamespace } from '../../scripts/lab/network-namespace.ts';
import type { JsonObject } from '../../scripts/lab/object-store.ts';
import { Wireguard } from '../../scripts/lab/wireguard.ts';
import { runTime, workers } from '../kit/haproxy-lab.ts';
import { NamespaceProcess } from '../kit/namespace-process.ts';
import {
  createOverlayLab,
  overlayMembers,
  overlayRouter,
  overlayServed,
  overlaySpeaker,
  startOverlayMaster,
} from '../kit/overlay-lab.ts';
import { type EventView, eventsSince, lastEvent, waitForEvent } from '../kit/router-view.ts';
import { overlayAddress, type WireguardOverlay } from '../kit/wireguard-overlay.ts';

const TIMEOUT = 120_000;
const MEGABYTES = 10 * 1024 * 1024;

type Bulk = typeof import('../kit/bulk-transfer.ts');

/** A finding of doctor, as `-o json` has it. */
interface Finding {
  readonly check: string;
  readonly level: string;
  readonly place: string;
  readonly value: string;
  readonly fix: string;
}

describe('a control plane in an overlay', { timeout: TIMEOUT }, () => {
  let lab: Lab;
  let overlay: WireguardOverlay;
  const processes: NamespaceProcess<Bulk>[] = [];

  beforeAll(async () => {
    ({ lab, overlay } = await createOverlayLab());
    await overlay.start(lab.masters);
    // A host that relies on ICMP to learn of a smaller MTU hangs: here no such message arrives.
    await lab.upstream.exec(['nft', '-f', '-'], {
      input: `table ip lab_silence {
        chain forward { type filter hook forward priority 0; icmp type destination-unreachable drop; }
      }\n`,
    });
  }, TIMEOUT);
  afterAll(async () => {
    await Promise.all(processes.map((process) => process.stop()));
    await lab?.destroy();
  });

  async function doctor(): Promise<{ readonly code: number | null; readonly paths: readonly Finding[] }> {
    const { code, stdout } = await lab.lb.router.command(['doctor', '-o', 'json'], 60_000);
    const findings = JSON.parse(stdout) as Finding[];
    return { code, paths: findings.filter(({ check }) => check === 'path') };
  }

  /** Ends the router and has another configuration count from its next start, as on a host that never had it. */
  async function begin(config: JsonObject): Promise<void> {
    if (lab.lb.router.isRunning) {
      await lab.lb.router.stop();
      await lab.lb.router.command(['uninstall']);
    }
    lab.lb.writeConfig(config);
    await lab.lb.router.start();
  }

  const dataplane = async (): Promise<{ kind: string; auto?: { kind: string | null; reason: string } }> =>
    ((await lab.lb.router.status()) as unknown as { dataplane: { kind: string } }).dataplane;

  async function bulk(namespace: string): Promise<NamespaceProcess<Bulk>> {
    const module = new URL('../kit/bulk-transfer.ts', import.meta.url);
    const process = await NamespaceProcess.start<Bulk>(inNamespace(namespace, []), module);
    processes.push(process);
    return process;
  }

  /** Octets of an upload that came, and of a download. */
  async function transferred(): Promise<[number, number]> {
    const client = await bulk(lab.client.namespace);
    const target = { host: vipAddress, port: 443, caFile: lab.master(1).caFile, timeout: 8_000 };
    const up = await client.run(({ transfer }, to) => transfer(to), {
      ...target,
      path: '/',
      upload: MEGABYTES,
    });
    const path = `/octets/${MEGABYTES}`;
    const down = await client.run(({ transfer }, to) => transfer(to), { ...target, path, upload: 0 });
    return [Number(up.text), down.octets];
  }

  it('is served by HAProxy by its own choice, and none is served before an interface leads to it', async () => {
    await begin(overlayRouter(lab, 'auto'));
    for (const master of lab.masters) await startOverlayMaster(lab, master);
    // The address that it listens on, and the way to all members, come after it.
    expect(await dataplane()).toMatchObject({ kind: 'kernel', auto: { kind: null } });
    const { stdout } = await lab.lb.router.query(['status']);
    expect(stdout).toContain('the data plane is not decided yet, and no client is served');
    await overlay.start([lab.lb]);
    await overlayServed(lab, lab.masters);
    expect(await dataplane()).toMatchObject({
      kind: 'haproxy',
      auto: { kind: 'haproxy', reason: expect.stringContaining('without a link layer') },
    });
    const chosen = (await eventsSince(lab, 0)).filter(({ type }) => type === 'data-plane-chosen');
    expect(chosen).toMatchObject([{ kind: 'haproxy' }]);
    expect((await lab.lb.exec(['nft', 'list', 'tables'])).trim()).toBe('');
    const { stdout: why } = await lab.lb.router.query(['explain', vipAddress]);
    expect(why).toContain('the data plane is haproxy by dataplane.kind auto');
  });

  it('serves 300 of 300 connections', async () => {
    const { opened, failed, byMaster } = await lab.client.open(300, { connectTimeout: 20_000 });
    expect({ opened, failed }).toEqual({ opened: 300, failed: 0 });
    expect(Object.keys(byMaster).sort()).toEqual(['m1', 'm2', 'm3']);
    await lab.client.closeAll();
  });

  it('chooses once: another start goes on with HAProxy, without a break', async () => {
    await lab.client.open(30, { exchangeEvery: 200 });
    const { current } = await workers(lab);
    await lab.lb.router.stop();
    await lab.lb.router.start();
    await overlayServed(lab, lab.masters);
    expect((await dataplane()).auto?.kind).toBe('haproxy');
    expect(await workers(lab)).toEqual({ current, old: [] });
    expect(await lab.client.check()).toMatchObject({ alive: 30, broken: 0 });
    await lab.client.closeAll();
  });

  it('is served again when the interface of the load balancer was away, without a restart', async () => {
    const { current } = await workers(lab);
    const router = lab.lb.router.process?.pid;
    await overlay.stop(lab.lb);
    await overlayServed(lab, []);
    await overlay.start([lab.lb]);
    await overlayServed(lab, lab.masters);
    expect((await workers(lab)).current).toBe(current);
    expect(lab.lb.router.process?.pid).toBe(router);
    expect(await lab.client.request()).toMatchObject({ ok: true });
  });

  it('has BFD with a timing that a relay cannot break, and it finds a death before any health check', async () => {
    const victim = lab.master(3);
    const address = overlayAddress(victim);
    // Members come by their health as well as by BFD, which may be a moment later.
    await expect
      .poll(
        async () => JSON.parse((await lab.lb.router.query(['neighbors', address, '-o', 'json'])).stdout),
        {
          timeout: 20_000,
        },
      )
      .toMatchObject({ bfd: { state: 'Up', transmitInterval: 1000, detectionTime: 5000 } });
    lab.lb.writeConfig({ ...overlayRouter(lab, 'auto'), healthCheck: { interval: '20s' } });
    expect((await lab.lb.router.query(['reload'])).code).toBe(0);
    const before = await lastEvent(lab);
    await victim.disconnect();
    const isDeath = ({ type, peer, died }: EventView): boolean =>
      type === 'bfd-state' && peer === address && died === 'host';
    await waitForEvent(lab, before, `BFD finds ${address} dead`, isDeath, 15_000);
    await overlayServed(
      lab,
      lab.masters.filter((one) => one !== victim),
    );
    await victim.reconnect();
    await overlayServed(lab, lab.masters);
  });

  it('carries 10 MB each way with DF, though its MTU is 1280 and no ICMP gets through', async () => {
    for (const { namespace, pkiFolder } of lab.masters) {
      await (await bulk(namespace)).run(({ serve }, pki) => serve(7443, pki), pkiFolder);
    }
    const members = { bgp: false, static: overlayMembers(lab.masters).map((address) => ({ address })) };
    const vips = [{ address: vipAddress, port: 443, machinePort: 7443, members }];
    await begin({ ...overlayRouter(lab, 'haproxy'), vips, neighbors: [] });
    // HAProxy has run on with the members as they were.
    const state = (): Promise<string> => runTime(lab, `show servers state members-${vipAddress}`);
    await expect.poll(state, { timeout: 20_000 }).not.toContain(' 6443 ');
    await overlayServed(lab, lab.masters);
    expect(await transferred()).toEqual([MEGABYTES, MEGABYTES]);
  });

  it('cannot be served by the kernel: doctor names each member and what to change, and exits with 1', async () => {
    await begin(overlayRouter(lab, 'kernel'));
    const members = overlayMembers(lab.masters);
    await lab.lb.router.waitFor(
      'all members are known, and none passes its health check',
      ({ vips }) => vips[0]?.members.filter(({ health }) => health === 'failing').length === members.length,
      30_000,
    );
    const { code, paths } = await doctor();
    expect(code).toBe(1);
    expect(paths.map(({ level, place }) => [level, place.split(' ').at(-1)])).toEqual(
      members.map((address) => ['fault', address]),
    );
    for (const { value, fix } of paths) {
      expect(value).toContain('3 members are behind wg0 (tun)');
      expect(fix).toContain('dataplane.kind: haproxy');
    }
  });

  describe('beside it, on a plain subnet', () => {
    /** Only what a peer of WireGuard could send or get passes the port of a host at the switch. */
    async function only(address: string, port: string): Promise<void> {
      await runOnSwitch(`table bridge lab_peer {
        chain forward { type filter hook forward priority 0;
          iifname ${port} ip saddr != ${address} drop
          oifname ${port} ip daddr != ${address} drop
        }
      }`);
    }
    async function runOnSwitch(rules: string): Promise<void> {
      const { runCommand } = await import('../../scripts/lab/run-command.ts');
      await runCommand(inNamespace(lab.switch.namespace, ['nft', '-f', '-']), { input: `${rules}\n` });
    }
    const plain = (kind: 'kernel' | 'auto'): JsonObject => {
      const members = {
        bgp: false,
        static: lab.masters.map(({ name, address }) => ({ name, address })),
      };
      const vips = [{ address: vipAddress, port: 443, machinePort: 6443, members }];
      return { ...overlayRouter(lab, kind), listen: undefined, vips, neighbors: [] };
    };

    it('the kernel is chosen where every member passes, and serves', async () => {
      await begin(plain('auto'));
      await lab.lb.waitForPool(
        lab.masters.map(({ address }) => address),
        30_000,
      );
      await expect.poll(dataplane, { timeout: 30_000 }).toMatchObject({
        kind: 'kernel',
        auto: { kind: 'kernel', reason: 'requests to the VIPs through m1, m2, m3 are answered' },
      });
      await expect.poll(async () => (await lab.client.request()).ok, { timeout: 10_000 }).toBe(true);
      const { code, paths } = await doctor();
      expect(paths.map(({ level }) => level)).toEqual(['good', 'good', 'good']);
      expect(code).toBe(0);
    });

    it('stays chosen when a member is dropped later, which doctor names alone', async () => {
      const victim = lab.master(2);
      await only(victim.address, 'm2-eth0');
      const { code, paths } = await doctor();
      expect(code).toBe(1);
      expect(paths.map(({ level }) => level)).toEqual(['good', 'fault', 'good']);
      expect(paths[1]).toMatchObject({
        place: expect.stringContaining(victim.address),
        value: expect.stringContaining('its own address says: answered 200'),
        fix: expect.stringContaining('takes from a host only its own address'),
      });
      expect((await dataplane()).auto?.kind).toBe('kernel');
    });

    it('HAProxy is chosen where one member is dropped, and serves all', async () => {
      await begin(plain('auto'));
      await expect
        .poll(async () => (await dataplane()).auto, { timeout: 40_000 })
        .toMatchObject({ kind: 'haproxy', reason: expect.stringMatching(/^m2: /) });
      await expect
        .poll(async () => Object.keys((await lab.client.open(30)).byMaster).sort(), { timeout: 20_000 })
        .toEqual(['m1', 'm2', 'm3']);
      await runOnSwitch('delete table bridge lab_peer');
    });
  });

  it('carries 10 MB by the kernel too where a master has an interface for itself, by a smaller segment', async () => {
    const master = lab.master(1);
    const ends = await Promise.all(
      [lab.lb, master].map(async (host) => ({ host, wireguard: await Wireguard.create(host, 'wg1', 51821) })),
    );
    const addressOf = (n: number): string => `100.65.0.${n}`;
    const addresses = [addressOf(10), addressOf(11)];
    await Promise.all(
      ends.map(({ wireguard }, index) => {
        const other = ends[1 - index];
        if (other === undefined) throw new RangeError('two ends');
        const { publicKey, port } = other.wireguard;
        const peer = { publicKey, port, allowedIps: ['0.0.0.0/0'], endpoint: other.host.address };
        return wireguard.start([`${addresses[index]}/24`], [peer]);
      }),
    );
    await master.writeSysctls({ 'net.ipv4.conf.all.rp_filter': '0', 'net.ipv4.conf.wg1.rp_filter': '0' });
    const vips = [{ address: vipAddress, port: 443, machinePort: 7443 }];
    await master.speaker.stop();
    const { routers } = overlaySpeaker(lab, master) as { routers: readonly JsonObject[] };
    master.writeSpeakerConfig('init', {
      vips,
      apiServer: { address: addressOf(11) },
      routers: routers.map((router) => ({ ...router, address: addressOf(10) })),
    });
    await master.startSpeaker();
    const config = overlayRouter(lab, 'kernel');
    const [neighbor] = config['neighbors'] as JsonObject[];
    const neighbors = [{ ...neighbor, range: '100.65.0.0/24' }];
    await begin({ ...config, vips, neighbors, listen: { addresses: [addressOf(10)] } });
    await lab.lb.waitForPool([addressOf(11)], 30_000);
    expect(await transferred()).toEqual([MEGABYTES, MEGABYTES]);
  });
});
