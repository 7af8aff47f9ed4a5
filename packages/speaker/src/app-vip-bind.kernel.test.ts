import type { Finding } from '@bgp-lb/daemon';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { field, type LineProcess } from './testing/network-namespace.ts';
import { path, routesOf, SpeakerLab, VIP } from './testing/speaker-lab.ts';

const TIMEOUT = 60_000;
/** As `path`, with the large community that says that there is no VIP on this master. */
const withoutVip = {
  normal: path.normal.replace('{}', '{64512:3:1}'),
  draining: path.draining.replace('}', ' 64512:3:1}'),
};

let lab: SpeakerLab;
let router: LineProcess;

beforeEach(async () => {
  lab = new SpeakerLab();
  lab.configure({ vipBind: 'false' });
  [router] = await Promise.all([lab.startRouter(), lab.startApiServer()]);
  await lab.turn('ready');
}, TIMEOUT);

afterEach(() => lab.remove(), TIMEOUT);

async function inService(): Promise<LineProcess> {
  lab.finishKubeadm();
  const speaker = await lab.startSpeaker();
  await lab.reach('advertised');
  expect(await routesOf(router)).toEqual([withoutVip.normal]);
  return speaker;
}

function expectNothingHere(): void {
  expect(lab.isBound()).toBe(false);
  expect(lab.master.run('nft', 'list', 'tables')).toBe('');
}

describe('a master without the VIP on itself', { timeout: TIMEOUT }, () => {
  it('is announced with its own address, and has neither address, mapping, guard nor ARP settings', async () => {
    const arp = () => lab.master.run('sysctl', '-n', 'net.ipv4.conf.e0.arp_ignore').trim();
    const before = arp();
    await inService();
    expectNothingHere();
    expect(arp()).toBe(before);
    const { vips } = await lab.status();
    expect(vips[0]).toMatchObject({ state: 'advertised', bound: false, advertisement: 'normal' });
    const { stdout } = await lab.startCommand('doctor', '-o', 'json', '--config', lab.path('speaker.yaml'));
    const findings: Finding[] = JSON.parse(stdout);
    expect(findings).toContainEqual(
      expect.objectContaining({
        level: 'good',
        value: `${VIP} is not here (vipBind: false); clients come by 10.9.0.1`,
      }),
    );
    expect(findings.map(({ check }) => check)).not.toContain('arp');
  });

  it('takes away what a speaker before it had put there for the VIP', async () => {
    lab.configure();
    lab.finishKubeadm();
    const before = await lab.startSpeaker();
    await lab.reach('advertised');
    expect(lab.isBound()).toBe(true);
    await before.stop('SIGTERM');
    lab.configure({ vipBind: 'false' });
    await lab.startSpeaker();
    await lab.reach('advertised');
    expectNothingHere();
  });

  it('is not advertised while kubeadm works, also as the first one', async () => {
    lab.configure({ vipBind: 'false', role: 'init' });
    await lab.startSpeaker();
    expect(await lab.reach('absent')).toContain('no marker');
    expectNothingHere();
  });

  it('keeps its place at the routers while the speaker is started anew', async () => {
    const first = await inService();
    await first.stop('SIGKILL');
    await lab.startSpeaker();
    await lab.reach('advertised');
    await router.next(field('endOfRib'));
    expect((await lab.status()).vips[0]).toMatchObject({ advertisement: 'normal' });
    // The path never went: nothing was withdrawn between the two.
    expect(await routesOf(router)).toEqual([withoutVip.normal]);
  });

  it('drains until the last connection of a load balancer has ended', async () => {
    await inService();
    router.send('another-master');
    await lab.until(({ routers }) => routers[0]?.prefixes.received === 1);
    const connection = await lab.connectLoadBalancer();
    const draining = lab.startCommand('drain', '--socket', lab.path('speaker.sock'));
    expect(await routesOf(router)).toEqual([withoutVip.draining]);
    await lab.until(({ vips: [vip] }) => vip?.reason.includes('1 connections of clients are left') === true);
    connection.send('end');
    expect(await routesOf(router)).toEqual([]);
    expect((await draining).code).toBe(0);
    expect(await lab.events('connections-reset')).toEqual([]);
  });
});
