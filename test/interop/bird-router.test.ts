import { rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localAsn, vipAddress } from '../../scripts/lab/addresses.ts';
import { Bird } from '../../scripts/lab/bird.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { startMaster } from '../kit/cluster.ts';

const vip = `${vipAddress}/32`;
const eventually = { timeout: 15_000, interval: 50 };

describe('BIRD in the place of our router', () => {
  let lab: Lab;
  let bird: Bird;
  let master: MasterHost;

  beforeAll(async () => {
    lab = await Lab.create({ masters: 1, controlPlane: 'stand-in', speaker: { drain: { timeout: '3s' } } });
    master = lab.master(1);
    bird = new Bird(lab.lb);
    await bird.start([
      'protocol kernel { ipv4 { export where source = RTS_BGP; }; merge paths on; }',
      `protocol bgp m1 { local ${lab.lb.address} as ${localAsn}; neighbor ${master.address} as ${localAsn}; rr client; direct;
  hold time 3; passive on; password "lab-password"; ttl security on; error wait time 1, 1; ipv4 { import all; export none; }; }`,
    ]);
    await lab.lb.writeSysctls({ 'net.ipv4.ip_forward': '1' });
    await startMaster(lab, master);
  });
  afterAll(async () => {
    await lab?.destroy();
  });

  /** What BIRD knows of the path to a prefix. */
  const path = (prefix: string): Promise<string> => bird.birdc('show', 'route', 'all', prefix);

  it('has a session with our speaker by MD5 and GTSM, and the VIP from it with its identity', async () => {
    await expect.poll(() => path(vip), eventually).toContain(`via ${master.address} on eth0`);
    const text = await path(vip);
    expect(text).toContain('BGP.local_pref: 100');
    expect(text).toMatch(new RegExp(`BGP\\.large_community: \\(${localAsn}, 1, \\d+\\)`));
    const { routers } = await master.speaker.status();
    expect(routers).toMatchObject([{ address: lab.lb.address, session: 'Established', password: true }]);
  });

  it('forwards clients by its own route', async () => {
    await expect.poll(() => lab.client.request(), eventually).toMatchObject({ ok: true, master: 'm1' });
  });

  it('is told GRACEFUL_SHUTDOWN with LOCAL_PREF 0 while /readyz is red', async () => {
    await master.setApiServer('not-ready');
    await expect.poll(() => path(vip), eventually).toContain('BGP.local_pref: 0');
    // GRACEFUL_SHUTDOWN (RFC 8326 section 4) in BIRD's notation.
    expect(await path(vip)).toContain('BGP.community: (65535,0)');
    await master.setApiServer('ready');
    await expect.poll(() => path(vip), eventually).toContain('BGP.local_pref: 100');
  });

  it('loses the path of a master that drains, and keeps the session', async () => {
    writeFileSync(master.path('run/drain'), '');
    await expect.poll(() => path(vip), eventually).not.toContain(master.address);
    expect(await bird.birdc('show', 'protocols', 'm1')).toContain('Established');
    rmSync(master.path('run/drain'));
    await expect.poll(() => path(vip), eventually).toContain(master.address);
  });
});
