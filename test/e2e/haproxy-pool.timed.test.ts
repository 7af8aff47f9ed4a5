import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Lab } from '../../scripts/lab/lab.ts';
import { tryCommand } from '../../scripts/lab/run-command.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { heal } from '../kit/cluster.ts';
import { createHaproxyLab, servedBy, servers, startHaproxyCluster, workers } from '../kit/haproxy-lab.ts';
import { textFrom } from '../kit/host-http.ts';

const TIMEOUT = 120_000;

describe('HAProxy as the data plane of three masters', { timeout: TIMEOUT }, () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startHaproxyCluster();
  }, TIMEOUT);
  afterAll(() => lab.destroy());

  it('gives each a third of 300 connections to VIP:443, within 15 %', async () => {
    const { opened, failed, byMaster } = await lab.client.open(300, { connectTimeout: 20_000 });
    expect({ opened, failed }).toEqual({ opened: 300, failed: 0 });
    for (const { name } of lab.masters) {
      expect(byMaster[name]).toBeGreaterThanOrEqual(85);
      expect(byMaster[name]).toBeLessThanOrEqual(115);
    }
    await lab.client.closeAll();
  });

  it('has its file and its run-time state as wanted', async () => {
    const { code, stdout } = await lab.lb.router.query(['fib', '--diff']);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('no differences') });
    const { stdout: fib } = await lab.lb.router.query(['fib']);
    for (const { address } of lab.masters) expect(fib).toMatch(new RegExp(`${address} .*33\\.3%`));
  });

  it('has what HAProxy says of members in metrics that promtool finds no fault with', async () => {
    const input = await textFrom(lab.lb.router.socketPath, '/metrics');
    const { code, stdout, stderr } = await tryCommand(['promtool', 'check', 'metrics'], { input });
    expect({ code, said: `${stdout}${stderr}` }).toEqual({ code: 0, said: '' });
    for (const { address } of lab.masters) {
      const labels = `{vip="10.100.0.1/32",member="${address}"}`;
      expect(input).toContain(`bgp_lb_router_member_check_up${labels} 1\n`);
      expect(input).toMatch(new RegExp(`bgp_lb_router_member_connections\\${labels} \\d+\\n`));
    }
    expect(input).toMatch(/data_plane_operations_total\{operation="add-server",result="ok"\} [3-9]/);
    expect(input).toContain('bgp_lb_router_data_plane_as_wanted 1\n');
  });

  it('explains in words of HAProxy, and with nothing of the kernel', async () => {
    const { stdout } = await lab.lb.router.query(['explain']);
    expect(stdout).toMatch(/gate haproxy +yes .*HAProxy forwards it/);
    const { stdout: fib } = await lab.lb.router.query(['fib']);
    expect(`${stdout}${fib}`).not.toMatch(/kernel|BUCKETS|INTERFACE/);
  });

  it('explains that a rebalance is nothing for it', async () => {
    const { code, stderr } = await lab.lb.router.query(['rebalance', lab.master(1).address]);
    expect(code).not.toBe(0);
    expect(stderr).toContain('haproxy');
  });

  it('is examined by doctor', async () => {
    const { stdout } = await lab.lb.router.command(['doctor']);
    expect(stdout).toMatch(/HAProxy .*version \d+\.\d+.* answers/);
  });

  it('keeps a member that is not ready out while others are, with what it has', async () => {
    const [, second] = lab.masters;
    if (second === undefined) throw new Error('no second master');
    await lab.client.open(60, { connectTimeout: 20_000 });
    await second.setApiServer('not-ready');
    await servedBy(
      lab,
      lab.masters.filter((one) => one !== second),
    );
    await lab.client.startLoop({ every: 20 });
    await expect
      .poll(async () => (await lab.client.loopReport()).ok, { timeout: 10_000 })
      .toBeGreaterThan(150);
    const { failed, byMaster } = await lab.client.stopLoop();
    expect({ failed, unready: byMaster[second.name] }).toEqual({ failed: 0, unready: undefined });
    expect(await lab.client.check()).toMatchObject({ alive: 60, broken: 0 });
    await second.setApiServer('ready');
    await servedBy(lab, lab.masters);
    await lab.client.closeAll();
  });

  it('serves on when no member is ready, since better one that is not than none', async () => {
    await heal(lab);
    await Promise.all(lab.masters.map((master) => master.setApiServer('not-ready')));
    await expect
      .poll(async () => (await servers(lab)).map(({ status }) => status), { timeout: 15_000 })
      .toEqual(['no check', 'no check', 'no check']);
    const { ok } = await lab.client.request({ path: '/version' });
    expect(ok).toBe(true);
    await Promise.all(lab.masters.map((master) => master.setApiServer('ready')));
    await expect
      .poll(async () => (await servers(lab)).map(({ status }) => status), { timeout: 15_000 })
      .toEqual(['UP', 'UP', 'UP']);
  });
});

describe('members that HAProxy must not use', { timeout: TIMEOUT }, () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await createHaproxyLab();
  }, TIMEOUT);
  afterAll(() => lab.destroy());

  it('refuses clients of an empty pool within 100 ms, and serves the first good member within rise x interval + 0.5 s', async () => {
    const first = lab.master(1);
    // A list says who is to be there: none is waited for but who is on it.
    const list = [{ name: first.name, address: first.address }];
    const vip = {
      address: '10.100.0.1',
      port: 443,
      machinePort: 6443,
      members: { bgp: false, static: list },
    };
    lab.lb.writeConfig({ vips: [vip], pool: { initialHold: '60s' } });
    await lab.lb.router.start();
    await expect.poll(() => workers(lab), { timeout: 10_000 }).toMatchObject({ current: expect.any(Number) });
    await expect
      .poll(async () => (await lab.client.request({ timeout: 3_000 })).error, { timeout: 10_000 })
      .toMatch(/ECONNRESET|ECONNREFUSED|disconnected/);
    const { took } = await lab.client.request({ timeout: 3_000 });
    expect(took).toBeLessThan(100);
    await first.startApiServer();
    const begun = performance.now();
    await waitUntil(async () => (await lab.client.request({ timeout: 3_000 })).ok, { what: 'it is served' });
    // The pace of checks in the lab, with `rise` at its default.
    expect(performance.now() - begun).toBeLessThan(2 * 200 + 500);
    lab.lb.writeConfig();
    expect((await lab.lb.router.query(['reload'])).code).toBe(0);
    writeFileSync(first.markerFile, '');
    first.writeSpeakerConfig('init');
    await first.startSpeaker();
    await servedBy(lab, [first]);
  });

  it('sends nothing to a member whose /readyz fails from the first moment: added, after a reload, at a cold start', async () => {
    const [first, second] = [lab.master(1), lab.master(2)];
    await second.installCertificates(first);
    writeFileSync(second.markerFile, '');
    second.writeSpeakerConfig('join');
    await second.startApiServer('not-ready');
    await lab.client.startLoop({ every: 20, timeout: 3_000 });
    await second.startSpeaker();
    await quietFor(lab, second.name, 500);
    lab.lb.writeConfig({ healthCheck: { interval: '250ms' } });
    const before = await workers(lab);
    expect(await lab.lb.router.query(['reload'])).toMatchObject({ code: 0, stderr: '' });
    await expect
      .poll(async () => (await workers(lab).catch(() => before)).current, { timeout: 10_000 })
      .not.toBe(before.current);
    await quietFor(lab, second.name, 500);
    const { failed, reasons } = await lab.client.loopReport();
    expect({ failed, reasons }).toEqual({ failed: 0, reasons: {} });
    const { current } = await workers(lab);
    process.kill(current, 'SIGKILL');
    await expect
      .poll(async () => (await workers(lab).catch(() => ({ current }))).current, { timeout: 10_000 })
      .not.toBe(current);
    await servedBy(lab, [first]);
    await quietFor(lab, second.name, 500);
    await lab.client.stopLoop();
  });

  it('never uses a member whose certificate is of another CA, and says why', async () => {
    const third = lab.master(3);
    // A CA of its own.
    await third.installCertificates();
    writeFileSync(third.markerFile, '');
    third.writeSpeakerConfig('join');
    await third.startApiServer();
    await third.startSpeaker();
    const reasonOf = async (): Promise<string | undefined> => {
      const { vips } = await lab.lb.router.status();
      return vips[0]?.members.find(({ nextHop }) => nextHop === third.address)?.reason;
    };
    await expect.poll(reasonOf, { timeout: 10_000 }).toMatch(/certificate|another cluster/);
    expect((await servers(lab)).map(({ name }) => name)).not.toContain(third.address);
  });
});

/** The loop sends on for a while, and none of it reaches this master. */
async function quietFor(lab: Lab, name: string, requests: number): Promise<void> {
  const { sent } = await lab.client.loopReport();
  await expect
    .poll(async () => (await lab.client.loopReport()).sent, { timeout: 20_000 })
    .toBeGreaterThan(sent + requests);
  expect((await lab.client.loopReport()).byMaster[name]).toBeUndefined();
}
