import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipOf } from '../../scripts/lab/addresses.ts';
import { keepalivedDaemon, keepalivedView } from '../../scripts/lab/keepalived.ts';
import type { LbHost } from '../../scripts/lab/lb-host.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { KeepalivedPair } from '../kit/keepalived-pair.ts';

const TIMEOUT = 120_000;
const vip = vipOf('ipv4');

describe('two load balancers with HAProxy and keepalived, when something fails', { timeout: TIMEOUT }, () => {
  let pair: KeepalivedPair;
  let first: LbHost;
  let second: LbHost;
  beforeAll(async () => {
    pair = await KeepalivedPair.create('haproxy');
    ({ first, second } = pair);
    await first.router.start();
    await waitUntil(async () => (await pair.owners())[0] === first, {
      what: 'the first has the VIPs',
      timeoutMs: 20_000,
    });
    await second.router.start();
    await pair.ownedBy(first);
    await served();
  }, TIMEOUT);
  afterAll(() => pair?.destroy());

  const answers = async (): Promise<boolean> => (await pair.lab.client.request({ timeout: 1_000 })).ok;
  const served = (): Promise<unknown> => waitUntil(answers, { what: 'an answer', timeoutMs: 20_000 });

  it('pass them within half a second where HAProxy is gone, and not when it is gone from both', async () => {
    const begun = Date.now();
    await first.killHaproxy();
    expect((await pair.gotAt(second, begun)) - begun).toBeLessThan(500);
    await served();
    await expect.poll(async () => (await pair.vrrp(first)).why, { timeout: 5_000 }).toContain('HAProxy');
    expect(await pair.vrrp(first)).toMatchObject({ state: 'fault', owner: second.address });
    const both = Date.now();
    await second.killHaproxy();
    await expect.poll(async () => (await pair.vrrp(second)).unfit, { timeout: 5_000 }).toContain('HAProxy');
    await sleep(2_000);
    expect(pair.addressEvents(both)).toEqual([]);
    expect((await pair.owners()).map(({ name }) => name)).toEqual([second.name]);
    for (const lb of [first, second]) lb.startHaproxy();
    await pair.ownedBy(first, 30_000);
    await served();
  });

  it('do not pass them where all masters are dead', async () => {
    const since = Date.now();
    await Promise.all(pair.lab.masters.map((master) => master.stopApiServer()));
    for (const lb of [first, second]) {
      await lb.router.waitFor('no member', ({ vips }) => vips.every(({ ready }) => !ready), 20_000);
    }
    await sleep(4_000);
    expect(pair.addressEvents(since)).toEqual([]);
    await Promise.all(pair.lab.masters.map((master) => master.startApiServer()));
    await served();
    expect(pair.addressEvents(since)).toEqual([]);
  });

  it('take another peer by a reload that moves nothing', async () => {
    const since = Date.now();
    for (const lb of [second, first]) {
      const other = lb === first ? second : first;
      pair.configure(lb, { peers: [other.address, '10.0.0.8'] });
      expect((await lb.router.query(['reload'])).code).toBe(0);
      await waitUntil(() => / reload/i.test(lb.keepalived.tail()), {
        what: 'keepalived has reloaded',
        timeoutMs: 15_000,
        detail: () => lb.keepalived.tail(),
      });
      expect(readFileSync(lb.keepalived.config, 'utf8')).toMatch(
        /unicast_peer \{\n +10\.0\.0\.\d+\n +10\.0\.0\.8\n/,
      );
    }
    await sleep(2_000);
    expect(pair.addressEvents(since)).toEqual([]);
    expect((await pair.vrrp(first)).state).toBe('master');
    for (const lb of [first, second]) {
      pair.configure(lb);
      expect((await lb.router.query(['reload'])).code).toBe(0);
    }
    await pair.ownedBy(first);
  });

  it('keep them where keepalived is told to take a broken file, which the router puts right', async () => {
    const since = Date.now();
    const { config, runFolder } = first.keepalived;
    const good = readFileSync(config, 'utf8');
    const pid = Number(readFileSync(join(runFolder, 'keepalived.pid'), 'utf8'));
    writeFileSync(config, good.replace('virtual_router_id', 'virtual_router'));
    process.kill(pid, 'SIGHUP');
    await waitUntil(() => /not reloading|config.* fail/i.test(first.keepalived.tail()), {
      what: 'keepalived refuses it',
      timeoutMs: 15_000,
      detail: () => first.keepalived.tail(),
    });
    await expect.poll(() => readFileSync(config, 'utf8'), { timeout: 15_000 }).toBe(good);
    await pair.ownedBy(first);
    expect(pair.addressEvents(since)).toEqual([]);
  });

  it('are one owner again within two seconds after keepalived was killed', async () => {
    const begun = Date.now();
    await first.keepalived.kill();
    const got = await pair.gotAt(second, begun);
    const lost = await waitUntil(
      () => pair.addressEvents(begun).find(({ lb, isThere }) => lb === first && !isThere)?.at,
      { what: 'what it has left is removed' },
    );
    expect(lost - got).toBeLessThan(2_000);
    expect((await pair.owners()).map(({ name }) => name)).toEqual([second.name]);
    await expect.poll(async () => (await pair.vrrp(first)).state, { timeout: 5_000 }).toBe('stop');
    first.keepalived.start();
    await pair.ownedBy(first);
  });

  it('move nothing when a router is killed, and it knows who has the VIPs when it is back', async () => {
    const since = Date.now();
    await first.router.kill();
    await sleep(1_500);
    await first.router.start();
    await expect.poll(async () => (await pair.vrrp(first)).state, { timeout: 10_000 }).toBe('master');
    expect(pair.addressEvents(since)).toEqual([]);
  });

  it('have one owner within two seconds after they hear each other again, and the client follows', async () => {
    await pair.part();
    await waitUntil(async () => (await pair.owners()).length === 2, { what: 'both have the VIPs' });
    const wrong = await pair.linkAddress(second);
    await expect.poll(() => pair.knownToClient(vip), { timeout: 5_000 }).toBe(wrong);
    const begun = Date.now();
    await pair.join();
    await waitUntil(async () => (await pair.owners()).length === 1, { what: 'one has the VIPs' });
    expect(Date.now() - begun).toBeLessThan(2_000);
    await pair.ownedBy(first);
    const wanted = await pair.linkAddress(first);
    await expect.poll(() => pair.knownToClient(vip), { timeout: 2_000 }).toBe(wanted);
    await served();
  });

  it('refuse the start beside a foreign virtual router with their VRID, and name it', async () => {
    await second.router.stop();
    await second.keepalived.stop();
    await second.router.command(['uninstall']);
    const { client } = pair.lab;
    const view = keepalivedView(client.path('keepalived'));
    const address = '10.100.0.250/32 dev eth1';
    const instance = [
      'interface eth1',
      'virtual_router_id 1',
      'priority 7',
      'virtual_ipaddress {',
      address,
      '}',
    ];
    view.write('/etc/keepalived.conf', `vrrp_instance foreign {\n${instance.join('\n')}\n}\n`);
    const foreign = client.spawn('foreign', keepalivedDaemon(view, '/etc/keepalived.conf', '/run'));
    await foreign.ready(() => foreign.tail(60).includes('Entering MASTER STATE'));
    second.startHaproxy();
    second.keepalived.start();
    await second.router.start();
    const problem = async (): Promise<string> => (await pair.vrrp(second)).problem;
    await expect.poll(problem, { timeout: 10_000 }).toContain('uses VRID 1 already (VRRPv2, priority 7)');
    await sleep(4_000);
    expect(await pair.vrrp(second)).toMatchObject({ state: 'stop', problem: expect.stringContaining('10.') });
    expect((await second.router.command(['doctor'])).stdout).toContain('no peer, and it has our VRID');
    await foreign.stop();
    await pair.ownedBy(first, 30_000);
  });
});
