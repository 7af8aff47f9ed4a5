import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipAddress } from './addresses.ts';
import type { CheckResult } from './client-protocol.ts';
import { Lab } from './lab.ts';

/**
 * The connection harness against a load balancer that is known to break connections: the kernel's plain multipath
 * route, whose hash ranges all move when a next hop goes. A harness that does not see that proves nothing elsewhere.
 */
describe('the connection harness', () => {
  const masterCount = 5;
  const connections = 100;
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.create({ masters: masterCount, controlPlane: 'stand-in' });
    const first = lab.master(1);
    await first.installCertificates();
    await Promise.all(lab.masters.slice(1).map((master) => master.installCertificates(first)));
    await Promise.all(lab.masters.map((master) => master.startApiServer()));
    for (const master of lab.masters) {
      await master.exec(['ip', 'address', 'add', `${vipAddress}/32`, 'dev', 'lo']);
    }
    await lab.lb.writeSysctls({ 'net.ipv4.ip_forward': '1', 'net.ipv4.fib_multipath_hash_policy': '1' });
    await routeVipTo([1, 2, 3, 4, 5]);
  });
  afterAll(async () => {
    await lab.destroy();
  });

  async function routeVipTo(masters: readonly number[]): Promise<void> {
    const hops = masters.flatMap((n) => ['nexthop', 'via', lab.master(n).address]);
    await lab.lb.exec(['ip', 'route', 'replace', `${vipAddress}/32`, ...hops]);
  }

  const brokenAtSurvivors = ({ brokenByMaster }: CheckResult, victim: string): number =>
    Object.entries(brokenByMaster).reduce((sum, [master, count]) => sum + (master === victim ? 0 : count), 0);

  it('sees no breakage where nothing changes, and every master serving', async () => {
    const opened = await lab.client.open(connections, { exchangeEvery: 100 });
    expect(opened).toMatchObject({ opened: connections, failed: 0 });
    expect(Object.keys(opened.byMaster)).toEqual(['m1', 'm2', 'm3', 'm4', 'm5']);
    const checked = await lab.client.check();
    expect(checked).toMatchObject({ alive: connections, broken: 0, byMaster: opened.byMaster });
  });

  it('sees the connections of survivors break when a plain multipath route loses a next hop', async () => {
    await routeVipTo([1, 2, 4, 5]);
    const checked = await lab.client.check();
    expect(brokenAtSurvivors(checked, 'm3')).toBeGreaterThan(0);
    expect(checked.brokenByMaster['m3']).toBeGreaterThan(0);
    expect(checked.alive).toBeGreaterThan(0);
    await lab.client.closeAll();
    await routeVipTo([1, 2, 3, 4, 5]);
  });

  it('counts the requests that are lost, and the time until they are answered again', async () => {
    await lab.client.startLoop({ every: 20, timeout: 500 });
    await lab.lb.disconnect();
    await lab.client.markLoop();
    // No request can succeed: wait for failures, which come by their time limit.
    await expect
      .poll(async () => (await lab.client.loopReport()).failed, { timeout: 5_000 })
      .toBeGreaterThan(2);
    expect(await lab.client.loopReport()).toMatchObject({ ok: 0, reasons: { timeout: expect.any(Number) } });
    await lab.lb.reconnect();
    await expect.poll(async () => (await lab.client.loopReport()).ok, { timeout: 5_000 }).toBeGreaterThan(2);
    const report = await lab.client.stopLoop();
    expect(report.recovered).toBeGreaterThan(500);
    expect(report.sent).toBe(report.ok + report.failed);
  });

  it('keeps connections open on the requests of HTTP too, as a real kube-apiserver needs it', async () => {
    expect(await lab.client.open(10, { exchange: 'requests', exchangeEvery: 50 })).toMatchObject({
      opened: 10,
    });
    expect(await lab.client.check()).toMatchObject({ alive: 10, broken: 0 });
    await lab.client.closeAll();
  });
});
