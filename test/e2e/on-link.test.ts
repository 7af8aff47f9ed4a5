import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipOf } from '../../scripts/lab/addresses.ts';
import type { Host } from '../../scripts/lab/host.ts';
import type { LbHost } from '../../scripts/lab/lb-host.ts';
import { httpOn, textFrom } from '../kit/host-http.ts';
import { families, OnLinkLab, redirectsSent, subnetStart, unserved } from '../kit/on-link-lab.ts';
import type { EventView } from '../kit/router-view.ts';

const eventually = { timeout: 60_000, interval: 100 };
const timeout = 20_000;
const TIMEOUT = 240_000;

describe('VIPs that are addresses of the subnet of masters and clients, with two load balancers', {
  timeout: TIMEOUT,
}, () => {
  let all: OnLinkLab;
  beforeAll(async () => {
    all = await OnLinkLab.create();
  }, TIMEOUT);
  afterAll(async () => {
    await all?.lab.destroy();
  });

  const readyz = (host: Host, vip: string) =>
    httpOn(host, { protocol: 'https:', host: vip, port: 6443, path: '/readyz', timeout });

  describe.each(families)('%s', (family) => {
    const vip = vipOf(family);

    it('is answered for by exactly one of them, and serves clients of the subnet', async () => {
      await expect.poll(() => all.phases(vip), eventually).toEqual(['answering', 'standby']);
      expect(await all.client.request({ host: vip, timeout })).toMatchObject({ ok: true });
      const { answering } = await all.roles(vip);
      expect(await all.known(vip)).toBe(await all.linkAddress(answering));
    });

    it('serves masters and the load balancers themselves too', async () => {
      for (const host of [...all.lab.masters, ...all.lab.lbs]) {
        expect(await readyz(host, vip)).toMatchObject({ status: 200 });
      }
    });

    it('is not what the load balancer sends its clients away from', async () => {
      // Packets of an on-link client leave by the interface that they came by: where a host that forwards would redirect.
      for (let request = 0; request < 5; request += 1) {
        expect(await all.client.request({ host: vip, timeout })).toMatchObject({ ok: true });
      }
      for (const lb of all.lab.lbs) expect((await redirectsSent(lb))[family]).toBe(0);
    });
  });

  it('are answered for also while nobody serves one: clients need not wait', async () => {
    await expect.poll(() => all.phases(unserved), eventually).toContain('answering');
    const outcome = await httpOn(all.client, { host: unserved, port: 6443, timeout });
    expect(outcome.error).toMatch(/^E(CONNREFUSED|HOSTUNREACH|NETUNREACH|ACCES)$/);
    const links = await Promise.all(all.lab.lbs.map((lb) => all.linkAddress(lb)));
    expect(links).toContain(await all.known(unserved));
  });

  it('are redirected past it where send_redirects is on, which doctor names and corrects', async () => {
    const { answering: lb } = await all.roles(vipOf('ipv4'));
    const [wide, own] = ['net.ipv4.conf.all.send_redirects', 'net.ipv4.conf.eth0.send_redirects'];
    await lb.writeSysctls({ [wide]: '1', [own]: '1' });
    const config = ['doctor', '-o', 'json'];
    const named = async (...more: string[]): Promise<string[]> => {
      const { stdout } = await lb.router.command([...config, ...more]);
      const findings = JSON.parse(stdout) as { check: string; place: string; level: string; value: string }[];
      return findings
        .filter(({ check, place }) => check === 'sysctl' && place.endsWith('send_redirects'))
        .map(({ place, level, value }) => `${level} ${place} ${value.slice(0, 6)}`);
    };
    // The router corrects it too, on its slow timer; this is done before. The first packet makes the kernel do it.
    await expect
      .poll(async () => {
        await lb.writeSysctls({ [wide]: '1', [own]: '1' });
        await all.client.request({ host: vipOf('ipv4'), timeout });
        return (await redirectsSent(lb)).ipv4;
      }, eventually)
      .toBeGreaterThan(0);
    const spoiltAnd =
      (...more: string[]) =>
      async () => {
        await lb.writeSysctls({ [wide]: '1', [own]: '1' });
        return named(...more);
      };
    await expect.poll(spoiltAnd(), eventually).toEqual([`fault ${wide} sysctl`, `fault ${own} sysctl`]);
    await expect.poll(spoiltAnd('--fix'), eventually).toEqual([`good ${wide} fixed:`, `good ${own} fixed:`]);
    expect((await lb.exec(['sysctl', '-n', wide, own])).split('\n').slice(0, 2)).toEqual(['0', '0']);
  });

  describe('that another host has too', () => {
    /** A router of the segment, no load balancer, with a link-layer address that is lower than theirs. */
    const foreign = (): Host => all.lab.upstream;
    const vips = families.map(vipOf);
    const claim = async (lb: LbHost, vip: string) =>
      (await all.claims(lb)).find(({ address }) => address === vip);
    /** Text of status, explain and metrics about a VIP on the link. */
    const told = async (lb: LbHost, vip: string) => {
      const metrics = await textFrom(lb.router.socketPath, '/metrics');
      const sample = `bgp_lb_router_on_link_foreign_owner{vip="${vip}",interface="eth0"}`;
      return {
        status: (await lb.router.query(['status'])).stdout
          .split('\n')
          .filter((line) => line.includes('eth0')),
        explain: (await lb.router.query(['explain', `${vip}/${vip.includes(':') ? 128 : 32}`])).stdout,
        metric: metrics
          .split('\n')
          .find((line) => line.startsWith(`${sample} `))
          ?.slice(sample.length + 1),
      };
    };
    /** Changes of what a load balancer knows of its VIPs on the link. */
    const events = async (lb: LbHost): Promise<readonly EventView[]> =>
      (await lb.router.request('GET', '/api/v1/events?type=on-link')) as readonly EventView[];

    afterAll(async () => {
      // What a test that failed has left.
      for (const vip of vips) {
        await foreign().exec(['sh', '-c', `ip address delete ${vip} dev eth0 2>&1 || true`]);
      }
    });

    it('is refused to one that asks for it first: duplicate address detection fails there', async () => {
      await all.duplicate(foreign(), vipOf('ipv6'));
      await expect
        .poll(async () => (await all.detection(foreign(), 'eth0')).get(vipOf('ipv6')), eventually)
        .toBe('dadfailed');
      await all.remove(foreign(), vipOf('ipv6'));
    });

    it('is not given up to one that takes it nevertheless: named, and clients are told who has it', async () => {
      const thief = await all.linkAddress(foreign());
      // It says nothing by itself: the one that serves asks.
      for (const vip of vips) await all.duplicate(foreign(), vip, ...(vip.includes(':') ? ['nodad'] : []));
      for (const vip of vips) {
        const { answering } = await all.roles(vip);
        await expect.poll(async () => (await claim(answering, vip))?.owner, eventually).toBe(thief);
      }
      await foreign().writeSysctls({
        'net.ipv4.conf.eth0.arp_notify': '1',
        'net.ipv6.conf.eth0.ndisc_notify': '1',
      });
      // The kernel announces all its addresses: a gratuitous ARP, and advertisements that override.
      await foreign().exec(['ip', 'link', 'set', 'eth0', 'address', thief]);
      for (const vip of vips) {
        const { answering } = await all.roles(vip);
        await expect
          .poll(() => claim(answering, vip), eventually)
          .toMatchObject({ phase: 'answering', owner: thief, isOwnerPeer: false });
        await expect.poll(() => all.known(vip), eventually).toBe(await all.linkAddress(answering));
        const { status, explain, metric } = await told(answering, vip);
        expect(metric).toBe('1');
        expect(explain).toContain(`answering, ${thief} has it, and is no load balancer`);
        expect(status).toContainEqual(expect.stringContaining(`${thief}, no load balancer`));
        expect(await events(answering)).toContainEqual(
          expect.objectContaining({ vip, owner: thief, to: 'answering', isOwnerPeer: false }),
        );
      }
      // Masters have both on `lo`, and are not concerned.
      for (const master of all.lab.masters) {
        expect((await all.detection(master, 'lo')).get(vipOf('ipv6'))).toBe('');
      }
    });

    it('is left to one that had it first, and taken when that is gone, by one of two that start at once', async () => {
      const owner = await all.linkAddress(foreign());
      const { lbs } = all.lab;
      await Promise.all(lbs.map((lb) => lb.router.stop()));
      await Promise.all(lbs.map((lb) => lb.router.start()));
      for (const lb of lbs) {
        for (const vip of vips) {
          await expect
            .poll(() => claim(lb, vip), eventually)
            .toMatchObject({ phase: 'standby', owner, isOwnerPeer: false });
        }
        await lb.router.waitFor(
          'both masters active again',
          (status) => status.vips.filter(({ ready }) => ready).length === vips.length,
          60_000,
        );
      }
      for (const [index, vip] of vips.entries()) {
        const { status, explain, metric } = await told(lbs[index] ?? all.lab.lb, vip);
        expect(metric).toBe('1');
        expect(explain).toContain(`standby, ${owner} has it, and is no load balancer`);
        expect(status).toContainEqual(expect.stringContaining(`${owner}, no load balancer`));
      }
      const seen = new Map(
        await Promise.all(lbs.map(async (lb) => [lb, (await events(lb)).at(-1)?.sequence ?? 0] as const)),
      );
      for (const vip of vips) await all.remove(foreign(), vip);
      for (const vip of vips) {
        await expect.poll(() => all.phases(vip), eventually).toEqual(['answering', 'standby']);
        const { answering, standby } = await all.roles(vip);
        await expect
          .poll(() => claim(standby, vip), eventually)
          .toMatchObject({ owner: await all.linkAddress(answering), isOwnerPeer: true });
        await expect.poll(() => claim(answering, vip), eventually).toMatchObject({ owner: null });
        expect(await all.client.request({ host: vip, timeout })).toMatchObject({ ok: true });
      }
      // Both may take it in the same instant; one gives way then, and that is the end of it.
      for (const vip of vips) {
        const { answering, standby } = await all.roles(vip);
        const since = async (lb: LbHost) =>
          (await events(lb))
            .filter(({ sequence }) => sequence > (seen.get(lb) ?? 0))
            .filter((event) => event['vip'] === vip && event['from'] !== event['to'])
            .map((event) => event['to']);
        expect(await since(answering)).toEqual(['answering']);
        expect([[], ['answering', 'standby']]).toContainEqual(await since(standby));
      }
    });
  });

  it('have doctor name an address that another host has, and ask who answers for them as RFC 5227 has it', async () => {
    const taken = `${subnetStart('ipv6')}200`;
    const master = all.lab.master(1);
    const both = [
      [all.lab.lb, all.lab.lb.router],
      [master, master.speaker],
    ] as const;
    const findings = await Promise.all(
      both.map(async ([host, daemon]) => {
        await all.duplicate(host, taken);
        const outcome = async () => (await all.detection(host, 'eth0')).get(taken);
        await expect.poll(outcome, eventually).toBe('dadfailed');
        const { stdout } = await daemon.command(['doctor', '-o', 'json']);
        await all.remove(host, taken);
        return JSON.parse(stdout) as { check: string; value: string }[];
      }),
    );
    for (const each of findings) {
      expect(each).toContainEqual(
        expect.objectContaining({
          check: 'duplicate address',
          level: 'fault',
          place: 'eth0',
          value: expect.stringContaining(`${taken} is dadfailed`),
        }),
      );
    }
    const owners = findings[1]?.filter(({ check }) => check === 'vip owner').map(({ value }) => value);
    for (const vip of families.map(vipOf)) {
      const link = await all.linkAddress((await all.roles(vip)).answering);
      expect(owners).toContain(`${vip} is answered for by ${link}, a load balancer of this configuration`);
    }
  });

  it('go to the other one when a load balancer is drained: no new connection fails', async () => {
    const vip = vipOf('ipv4');
    const { answering: leaving, standby: staying } = await all.roles(vip);
    const opened = await all.client.open(20, { host: vip, connectTimeout: timeout });
    expect(opened).toMatchObject({ opened: 20, failed: 0 });
    await all.client.startLoop({ host: vip, every: 20, timeout });
    await leaving.router.request('POST', '/api/v1/drain', { wait: 0 });
    for (const each of families) {
      await expect.poll(() => all.phases(vipOf(each), [staying]), eventually).toEqual(['answering']);
      await expect.poll(() => all.phases(vipOf(each), [leaving]), eventually).toEqual(['standby']);
    }
    await expect.poll(() => all.known(vip), eventually).toBe(await all.linkAddress(staying));
    const { sent, ok, failed, inFlight, reasons } = await all.client.stopLoop();
    expect({ failed, reasons }).toEqual({ failed: 0, reasons: {} });
    expect(ok).toBe(sent - inFlight);
    expect(sent).toBeGreaterThan(20);
    // Those whose hash meets another master at the other load balancer are reset; what both of them share goes on.
    const { alive, broken, reasons: why } = await all.client.check(timeout);
    expect(alive + broken).toBe(20);
    expect(Object.keys(why).filter((reason) => reason !== 'ECONNRESET')).toEqual([]);
    await all.client.closeAll();
    await leaving.router.request('POST', '/api/v1/undrain');
    await expect.poll(() => all.phases(vip), eventually).toEqual(['answering', 'standby']);
  });

  it('are taken over by the other when the one that answers dies, and its clients are told', async () => {
    const { answering, standby } = await all.roles(vipOf('ipv4'));
    await answering.powerOff();
    for (const family of families) {
      const vip = vipOf(family);
      await expect.poll(() => all.phases(vip, [standby]), eventually).toEqual(['answering']);
      // A client that has it learns it from the announcement; one that does not asks.
      const request = await all.client.request({ host: vip, timeout });
      expect(request).toMatchObject({ ok: true });
      await expect.poll(() => all.known(vip), eventually).toBe(await all.linkAddress(standby));
    }
  });
});
