import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipOf } from '../../scripts/lab/addresses.ts';
import type { Host } from '../../scripts/lab/host.ts';
import type { LbHost } from '../../scripts/lab/lb-host.ts';
import { families, OnLinkLab, redirectsSent } from '../kit/on-link-lab.ts';

const eventually = { timeout: 60_000, interval: 100 };
const timeout = 20_000;
const TIMEOUT = 240_000;
const shared = /^02:b[46]:/;

interface Device {
  readonly ifname: string;
  readonly address: string;
  readonly operstate: string;
}

describe('VIPs of a subnet with a link-layer address that goes with them (proxyMode: macvlan)', {
  timeout: TIMEOUT,
}, () => {
  let all: OnLinkLab;
  beforeAll(async () => {
    all = await OnLinkLab.create({ proxyMode: 'macvlan' });
  }, TIMEOUT);
  afterAll(async () => {
    await all?.lab.destroy();
  });

  /** The load balancer that is still on, after one was switched off. */
  function survivor(): LbHost {
    const found = all.lab.lbs.find(({ isOn }) => isOn);
    if (found === undefined) throw new Error('no load balancer is on');
    return found;
  }

  const devices = (host: Host): Promise<Device[]> => host.ipJson<Device[]>('link', 'show', 'type', 'macvlan');

  /** What a host that has never heard of it learns: the host that answers. */
  async function asked(vip: string): Promise<string> {
    await all.client.exec(['ip', 'neigh', 'flush', 'to', vip, 'dev', 'eth1']);
    expect(await all.client.request({ host: vip, timeout })).toMatchObject({ ok: true });
    return all.known(vip);
  }

  it.each(families)(
    'serve clients by a device of the one that answers, and of it alone: %s',
    async (family) => {
      const vip = vipOf(family);
      await expect.poll(() => all.phases(vip), eventually).toEqual(['answering', 'standby']);
      const { answering, standby } = await all.roles(vip);
      const learnt = await asked(vip);
      expect(learnt).toMatch(shared);
      expect((await devices(answering)).map(({ address }) => address)).toContain(learnt);
      expect((await devices(standby)).map(({ address }) => address)).not.toContain(learnt);
      // The device has the link-local address of the one before, and another host that wants the VIP is refused.
      const held = (await devices(answering)).find(({ address }) => address === learnt)?.ifname ?? '';
      const flags = await all.detection(answering, held);
      expect([...flags.values()].filter((flag) => flag !== '')).toEqual([]);
      if (family === 'ipv6') {
        const foreign = all.lab.upstream;
        await all.duplicate(foreign, vip);
        const outcome = async () => (await all.detection(foreign, 'eth0')).get(vip);
        await expect.poll(outcome, eventually).toBe('dadfailed');
        await all.remove(foreign, vip);
      }
      // Every address of the host is local by every device: the new one must not answer for them.
      const own = answering.addressOf(0, 'ipv4');
      await all.lab.master(1).exec(['ip', 'neigh', 'flush', 'to', own, 'dev', 'eth0']);
      const connect = `require('node:net').connect(1, '${own}').on('error', () => {})`;
      await all.lab.master(1).exec([process.execPath, '-e', connect]);
      const [entry] = await all.lab.master(1).ipJson<{ lladdr?: string }[]>('neigh', 'show', own);
      expect(entry?.lladdr).toBe(await all.linkAddress(answering));
      expect(await redirectsSent(answering)).toEqual({ ipv4: 0, ipv6: 0 });
    },
  );

  it('are answered for by the kernel while the router is dead, and nobody else takes them', async () => {
    const { answering, standby } = await all.roles(vipOf('ipv4'));
    // Each VIP is settled by itself: the other family's may be the other load balancer's.
    const both = await Promise.all(families.map((family) => all.roles(vipOf(family))));
    const its = families.filter((_family, index) => both[index]?.answering === answering);
    const before = await devices(answering);
    await answering.router.kill();
    for (const family of its) expect(await asked(vipOf(family))).toMatch(shared);
    // The other one takes it after three probes without an answer. Each is heard on two links.
    const rules = `counter asked { }
      chain input { type filter hook input priority 0; arp operation request arp daddr ip ${vipOf('ipv4')} counter name asked; }`;
    await answering.exec(['nft', '-f', '-'], { input: `table arp lab_probes {\n${rules}\n}\n` });
    const probes = async (): Promise<number> => {
      const text = await answering.exec(['nft', 'list', 'counter', 'arp', 'lab_probes', 'asked']);
      return Number(/packets (\d+)/.exec(text)?.[1]);
    };
    await expect.poll(probes, eventually).toBeGreaterThan(12);
    for (const family of its) expect(await all.phases(vipOf(family), [standby])).toEqual(['standby']);
    await answering.router.start();
    for (const family of its) {
      await expect.poll(() => all.phases(vipOf(family)), eventually).toEqual(['answering', 'standby']);
      expect((await all.roles(vipOf(family))).answering).toBe(answering);
    }
    expect(await devices(answering)).toMatchObject(
      before.map(({ ifname, address }) => ({ ifname, address })),
    );
  });

  it('have their device back when somebody removes it, sets it down, or takes the kernel the proxy', async () => {
    const vip = vipOf('ipv4');
    const { answering } = await all.roles(vip);
    const learnt = await asked(vip);
    const device = async (): Promise<Device | undefined> =>
      (await devices(answering)).find(({ address }) => address === learnt);
    const name = (await device())?.ifname ?? '';
    const proxies = () => answering.exec(['ip', 'neigh', 'show', 'proxy', 'dev', name]);
    for (const harm of [
      ['link', 'delete', name],
      ['link', 'set', name, 'down'],
      ['neigh', 'delete', 'proxy', vip, 'dev', name],
    ]) {
      await answering.exec(['ip', ...harm]);
      await expect.poll(async () => (await device())?.operstate, eventually).toBe('UP');
      await expect.poll(proxies, eventually).toContain(vip);
      expect(await asked(vip)).toBe(learnt);
    }
  });

  it.each(families)(
    'move to the other one with the link-layer address: clients learn nothing new: %s',
    async (family) => {
      const vip = vipOf(family);
      await expect.poll(() => all.phases(vip), eventually).toEqual(['answering', 'standby']);
      const { answering: leaving, standby: staying } = await all.roles(vip);
      const learnt = await asked(vip);
      // A client that takes no announcement: it goes on by what it knows.
      await all.client.exec([
        'ip',
        'neigh',
        'replace',
        vip,
        'lladdr',
        learnt,
        'nud',
        'permanent',
        'dev',
        'eth1',
      ]);
      await all.client.startLoop({ host: vip, every: 20, timeout });
      await leaving.router.request('POST', '/api/v1/drain', { wait: 0 });
      await expect.poll(() => all.phases(vip, [staying]), eventually).toEqual(['answering']);
      await expect.poll(() => all.phases(vip, [leaving]), eventually).toEqual(['standby']);
      expect((await devices(staying)).map(({ address }) => address)).toContain(learnt);
      expect((await devices(leaving)).map(({ address }) => address)).not.toContain(learnt);
      expect(await all.client.request({ host: vip, timeout })).toMatchObject({ ok: true });
      const { sent, failed, reasons } = await all.client.stopLoop();
      expect({ failed, reasons }).toEqual({ failed: 0, reasons: {} });
      expect(sent).toBeGreaterThan(10);
      await all.client.exec(['ip', 'neigh', 'delete', vip, 'dev', 'eth1']);
      await leaving.router.request('POST', '/api/v1/undrain');
    },
  );

  it('are taken over when the one that answers loses its power', async () => {
    const { answering, standby } = await all.roles(vipOf('ipv4'));
    const learnt = await Promise.all(families.map((family) => asked(vipOf(family))));
    await answering.powerOff();
    for (const [index, family] of families.entries()) {
      await expect.poll(() => all.phases(vipOf(family), [standby]), eventually).toEqual(['answering']);
      expect(await all.client.request({ host: vipOf(family), timeout })).toMatchObject({ ok: true });
      expect(await all.known(vipOf(family))).toBe(learnt[index]);
    }
  });

  it('have no device on the port of a bridge, and status says which interface to name', async () => {
    const lb = survivor();
    await lb.router.stop();
    await lb.exec(['ip', 'link', 'add', 'br0', 'type', 'bridge']);
    await lb.exec(['ip', 'link', 'add', 'p0', 'type', 'veth', 'peer', 'name', 'p1']);
    await lb.exec(['ip', 'link', 'set', 'p0', 'master', 'br0', 'up']);
    await lb.exec(['ip', 'address', 'add', '10.101.0.1/24', 'dev', 'p0']);
    lb.writeConfig({ dataplane: { proxyInterfaces: ['p0'], proxyMode: 'macvlan' } });
    await lb.router.start();
    await expect
      .poll(async () => (await all.claims(lb)).map(({ problem }) => problem), eventually)
      .toContainEqual(expect.stringContaining('name br0 in dataplane.proxyInterfaces'));
    // What it had on the interface that is named no more is gone.
    expect(await devices(lb)).toEqual([]);
  });

  it('leave nothing behind after uninstall', async () => {
    const lb = survivor();
    await lb.router.stop();
    lb.writeConfig();
    await lb.router.start();
    await expect.poll(() => all.phases(vipOf('ipv4'), [lb]), eventually).toEqual(['answering']);
    await lb.router.stop();
    expect((await devices(lb)).length).toBeGreaterThan(0);
    const { code, stdout } = await lb.router.command(['uninstall']);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('macvlan') });
    expect(await devices(lb)).toEqual([]);
  });
});
