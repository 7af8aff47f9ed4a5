import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { field, type LineProcess } from './testing/network-namespace.ts';
import { path, routesOf, SpeakerLab, VIP } from './testing/speaker-lab.ts';

/** Two namespaces, three processes and a TLS server take their time on a busy machine. */
const TIMEOUT = 60_000;

let lab: SpeakerLab;
let router: LineProcess;

beforeEach(async () => {
  lab = new SpeakerLab();
  lab.configure();
  [router] = await Promise.all([lab.startRouter(), lab.startApiServer()]);
}, TIMEOUT);

afterEach(() => lab.remove(), TIMEOUT);

/** A speaker whose VIP is advertised. */
async function inService(): Promise<LineProcess> {
  await lab.turn('ready');
  lab.finishKubeadm();
  const speaker = await lab.startSpeaker();
  await lab.reach('advertised');
  expect(await routesOf(router)).toEqual([path.normal]);
  return speaker;
}

describe('a joining master', { timeout: TIMEOUT }, () => {
  it('does not have the VIP while kubeadm works, though /readyz is green, and advertises it right after', async () => {
    await lab.turn('ready');
    await lab.startSpeaker();
    await router.next(field('established'));
    expect(await router.next(field('endOfRib'))).toBe('ipv4-unicast');
    const monitor = await lab.watchAddresses();
    await lab.until(({ gates }) => gates.some(({ name, pass }) => name === 'readyz' && pass));
    expect(await lab.reach('absent')).toContain('no marker');
    expect(lab.isBound()).toBe(false);
    lab.finishKubeadm();
    expect(await monitor.next(field('change'))).toBe(`set ${VIP}`);
    await lab.reach('advertised');
    expect(await routesOf(router)).toEqual([path.normal]);
    expect(existsSync(lab.marker)).toBe(false);
  });

  it('is not advertised with a certificate that lacks the VIP, and says so', async () => {
    await lab.turn('close');
    await lab.startApiServer(['DNS:kubernetes', 'IP:10.9.0.2']);
    await lab.turn('ready');
    lab.finishKubeadm();
    await lab.startSpeaker();
    const { vips } = await lab.until(({ vips: [vip] }) => vip?.reason.includes('certificate lacks') === true);
    expect(vips[0]).toMatchObject({ state: 'local-only', advertisement: 'none' });
    expect(vips[0]?.reason).toContain(VIP);
  });

  it('puts no received route into its kernel, and counts them', async () => {
    await inService();
    await lab.until(({ routers }) => routers[0]?.prefixes.rejected === 1);
    expect(lab.master.ip('route', 'show', 'default')).toBe('');
  });
});

describe('the first master', { timeout: TIMEOUT }, () => {
  it('has the VIP at once, before there is an API server, and does not advertise it', async () => {
    lab.configure({ role: 'init' });
    await lab.turn('close');
    await lab.startSpeaker();
    await lab.reach('local-only');
    await lab.until(() => lab.isBound());
    expect((await lab.status()).vips[0]?.advertisement).toBe('none');
  });

  it('is advertised once kubeadm has succeeded, without having been without the VIP', async () => {
    lab.configure({ role: 'init' });
    await lab.startSpeaker();
    await lab.reach('local-only');
    await lab.until(() => lab.isBound());
    const monitor = await lab.watchAddresses();
    await lab.turn('ready');
    // A marker that comes before /readyz was green often enough makes it a last resort first.
    await lab.until(({ gates }) => gates.some(({ name, pass }) => name === 'readyz' && pass));
    lab.finishKubeadm();
    expect(await routesOf(router)).toEqual([path.normal]);
    lab.master.ip('address', 'add', '10.7.7.7/32', 'dev', 'lo');
    expect(await monitor.next(field('change'))).toBe('set 10.7.7.7');
  });
});

describe('a master in service', { timeout: TIMEOUT }, () => {
  it('is a last resort while /readyz is red, and keeps the VIP', async () => {
    await inService();
    const monitor = await lab.watchAddresses();
    await lab.turn('red');
    expect(await routesOf(router)).toEqual([path.lastResort]);
    await lab.turn('ready');
    expect(await routesOf(router)).toEqual([path.normal]);
    lab.master.ip('address', 'add', '10.7.7.7/32', 'dev', 'lo');
    expect(await monitor.next(field('change'))).toBe('set 10.7.7.7');
  });

  it('withdraws and unbinds when its API server is dead', async () => {
    await inService();
    await lab.turn('close');
    expect(await routesOf(router)).toEqual([]);
    await lab.reach('absent');
    await lab.until(() => !lab.isBound());
  });

  it('drains at first sight when its API server stops, until the port is closed', async () => {
    await inService();
    await lab.connectClient();
    await lab.turn('shutdown');
    expect(await routesOf(router)).toEqual([path.draining]);
    expect(lab.isBound()).toBe(true);
    await lab.turn('close');
    expect(await routesOf(router)).toEqual([]);
    await lab.reach('absent');
    await lab.until(() => !lab.isBound());
  });

  it('drains while the drain file is there, and returns', async () => {
    await inService();
    await lab.connectClient();
    writeFileSync(lab.path('drain'), '');
    expect(await routesOf(router)).toEqual([path.draining]);
    rmSync(lab.path('drain'));
    expect(await routesOf(router)).toEqual([path.normal]);
  });

  it('has its VIP back when somebody deletes it', async () => {
    await inService();
    const monitor = await lab.watchAddresses();
    lab.master.ip('address', 'del', `${VIP}/32`, 'dev', 'lo');
    expect(await monitor.next(field('change'))).toBe(`deleted ${VIP}`);
    expect(await monitor.next(field('change'))).toBe(`set ${VIP}`);
  });
});

describe('the end of a speaker', { timeout: TIMEOUT }, () => {
  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'by %s takes nothing away, and its successor adopts all of it',
    async (signal) => {
      const first = await inService();
      const monitor = await lab.watchAddresses();
      await first.stop(signal);
      expect(await router.next(field('down'))).toBe('tcp-closed');
      await lab.startSpeaker();
      await lab.reach('advertised');
      // The router had a path all the time: the next change it tells is the same path, announced again.
      expect(await routesOf(router)).toEqual([path.normal]);
      lab.master.ip('address', 'add', '10.7.7.7/32', 'dev', 'lo');
      expect(await monitor.next(field('change'))).toBe('set 10.7.7.7');
    },
  );

  it('drains first where stopMode says so, and then says Administrative Shutdown', async () => {
    lab.configure({ stopMode: 'drain', drain: `{ file: ${lab.path('drain')}, timeout: 1s }` });
    const speaker = await inService();
    const stopped = speaker.stop('SIGTERM');
    expect(await routesOf(router)).toEqual([path.draining]);
    expect(await routesOf(router)).toEqual([]);
    expect(await router.next(field('text'))).toContain('Administrative Shutdown');
    await stopped;
    expect(lab.isBound()).toBe(false);
  });

  it('does not let a successor keep the VIP of a machine whose proof is void', async () => {
    const first = await inService();
    await first.stop('SIGKILL');
    writeFileSync(lab.path('machine-id'), 'machine-2\n');
    await lab.startSpeaker();
    expect(await lab.reach('absent')).toContain('another machine');
    expect(lab.isBound()).toBe(false);
  });
});

describe('ca.crt replaced behind a mount of the single file', { timeout: TIMEOUT }, () => {
  it('makes the speaker unbind and end, so that its container is mounted anew', async () => {
    await lab.turn('ready');
    lab.finishKubeadm();
    const speaker = await lab.startSpeaker({ mounting: ['ca.crt', 'mounted-ca.crt'] });
    await lab.reach('advertised');
    expect(await routesOf(router)).toEqual([path.normal]);
    const { certificate } = lab.ca;
    rmSync(lab.path('ca.crt'));
    writeFileSync(lab.path('ca.crt'), certificate);
    expect(await routesOf(router)).toEqual([]);
    expect(await speaker.exit()).toBe(1);
    expect(lab.isBound()).toBe(false);
  });
});

describe('a wrong password', { timeout: TIMEOUT }, () => {
  it('keeps the session down, and is never shown', async () => {
    writeFileSync(lab.path('password'), 'wrong\n', { mode: 0o600 });
    await lab.startSpeaker();
    const { routers } = await lab.until(() => lab.refusedSignatures() > 0);
    expect(routers[0]).toMatchObject({ password: true, establishedCount: 0 });
    expect(JSON.stringify(await lab.status())).not.toContain('wrong');
  });
});
