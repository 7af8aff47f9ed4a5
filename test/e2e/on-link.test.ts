import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipOf } from '../../scripts/lab/addresses.ts';
import type { Host } from '../../scripts/lab/host.ts';
import { httpOn } from '../kit/host-http.ts';
import { families, OnLinkLab, redirectsSent, unserved } from '../kit/on-link-lab.ts';

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
