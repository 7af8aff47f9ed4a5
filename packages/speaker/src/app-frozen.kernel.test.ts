import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { field, type LineProcess } from './testing/network-namespace.ts';
import { CLIENT, path, routesOf, SpeakerLab, VIP } from './testing/speaker-lab.ts';

const TIMEOUT = 60_000;

let lab: SpeakerLab;
let router: LineProcess;

beforeEach(async () => {
  lab = new SpeakerLab();
  [router] = await Promise.all([lab.startRouter(), lab.startApiServer()]);
  await lab.turn('ready');
  lab.finishKubeadm();
}, TIMEOUT);

afterEach(() => lab.remove(), TIMEOUT);

/** A speaker whose VIP is advertised. */
async function inService(): Promise<LineProcess> {
  const speaker = await lab.startSpeaker();
  await lab.reach('advertised');
  expect(await routesOf(router)).toEqual([path.normal]);
  return speaker;
}

describe('a frozen API server', { timeout: TIMEOUT }, () => {
  /** A client of a server whose kernel goes on for it, while the master is drained. */
  async function drainFrozen(): Promise<LineProcess> {
    lab.configure({ drain: `{ file: ${lab.path('drain')}, timeout: 1s }` });
    await inService();
    const client = await lab.connectClient();
    process.kill(lab.apiServer?.pid ?? 0, 'SIGSTOP');
    writeFileSync(lab.path('drain'), '');
    return client;
  }

  it('has its clients reset at the end of a drain, and status, events and metrics tell', async () => {
    const client = await drainFrozen();
    expect(await client.next(field('end'))).toBe('ECONNRESET');
    await lab.until(() => !lab.isBound());
    const [event] = await lab.events('connections-reset');
    expect(event).toMatchObject({ vip: `${VIP}/32`, count: 1, clients: [CLIENT], others: 0 });
    expect(await lab.metrics()).toMatch(
      /^bgp_lb_speaker_connections_reset_total\{vip="10\.100\.0\.1\/32"\} 1$/m,
    );
  });

  it('has no client reset while the VIP stays', async () => {
    const client = await drainFrozen();
    rmSync(lab.path('drain'));
    await lab.until(({ vips: [vip] }) => vip?.state === 'last-resort');
    expect(lab.isBound()).toBe(true);
    process.kill(lab.apiServer?.pid ?? 0, 'SIGCONT');
    await lab.reach('advertised');
    expect(client.hasSent((message) => field('end')(message) !== undefined)).toBe(false);
  });
});

describe('a drain', { timeout: TIMEOUT }, () => {
  it('waits for the clients that are connected, and ends with the last one', async () => {
    lab.configure({ drain: `{ file: ${lab.path('drain')}, timeout: 60s }` });
    await inService();
    const client = await lab.connectClient();
    writeFileSync(lab.path('drain'), '');
    expect(await routesOf(router)).toEqual([path.draining]);
    await sleep(3_000);
    expect(router.hasSent((message) => field('routes')(message) !== undefined)).toBe(false);
    client.send('end');
    expect(await routesOf(router)).toEqual([]);
    await lab.reach('absent');
    expect(await lab.events('vip-state')).toContainEqual(
      expect.objectContaining({ from: 'draining', to: 'absent' }),
    );
    expect(await lab.events('connections-reset')).toEqual([]);
  });
});

describe('a speaker that was frozen itself', { timeout: TIMEOUT }, () => {
  it('does not believe a timeout that ran while it slept: nothing changes, in kernel and at the router', async () => {
    lab.configure({ apiServer: `{ caFile: ${lab.path('ca.crt')}, fall: 1, timeout: 3s }` });
    const speaker = await inService();
    const monitor = await lab.watchAddresses();
    const before = (await lab.events('vip-state')).length;
    // A probe is on its way when the speaker stops, and is answered while it sleeps.
    process.kill(lab.apiServer?.pid ?? 0, 'SIGSTOP');
    await sleep(600);
    process.kill(speaker.pid ?? 0, 'SIGSTOP');
    process.kill(lab.apiServer?.pid ?? 0, 'SIGCONT');
    await sleep(5_000);
    process.kill(speaker.pid ?? 0, 'SIGCONT');
    const probes = async (): Promise<number> =>
      Number(/probes_total\{result="ok"\} (\d+)/.exec(await lab.metrics())?.[1]);
    const seen = await probes();
    while ((await probes()) < seen + 10) await sleep(100);
    expect(await lab.events('vip-state')).toHaveLength(before);
    expect((await lab.status()).routers[0]).toMatchObject({ session: 'Established', establishedCount: 1 });
    lab.master.ip('address', 'add', '10.7.7.7/32', 'dev', 'lo');
    expect(await monitor.next(field('change'))).toBe('set 10.7.7.7');
    expect(router.hasSent((message) => field('routes')(message) !== undefined)).toBe(false);
  });
});
