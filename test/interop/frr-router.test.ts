import { rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localAsn, vipAddress } from '../../scripts/lab/addresses.ts';
import { publicKeyHash, readPem } from '../../scripts/lab/cluster-pki.ts';
import { Frr, hasFrr } from '../../scripts/lab/frr.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { startMaster } from '../kit/cluster.ts';

const vip = `${vipAddress}/32`;

/** A path as FRR's `show bgp ipv4 unicast PREFIX json` has it. */
interface FrrPath {
  readonly peer: { readonly peerId: string };
  readonly locPrf?: number;
  readonly nexthops: readonly { readonly ip: string }[];
  readonly community?: { readonly string: string };
  readonly largeCommunity?: { readonly string: string };
  readonly stale?: boolean;
}

describe.skipIf(!hasFrr())('our speaker with FRR 8.4 in the place of our router', () => {
  let lab: Lab;
  let frr: Frr;
  let first: MasterHost;
  let second: MasterHost;

  beforeAll(async () => {
    lab = await Lab.create({ masters: 2, controlPlane: 'stand-in', speaker: { drain: { timeout: '3s' } } });
    [first, second] = [lab.master(1), lab.master(2)];
    // What our router sees to by itself.
    await lab.lb.writeSysctls({ 'net.ipv4.ip_forward': '1', 'net.ipv4.fib_multipath_hash_policy': '1' });
    frr = new Frr(lab.lb);
    await frr.start([
      `router bgp ${localAsn}`,
      ` bgp router-id ${lab.lb.address}`,
      ' bgp graceful-restart-disable',
      ' neighbor masters peer-group',
      ` neighbor masters remote-as ${localAsn}`,
      ' neighbor masters password lab-password',
      ' neighbor masters ttl-security hops 1',
      ' neighbor masters timers 1 3',
      ' bgp listen range 10.0.0.0/24 peer-group masters',
      ' address-family ipv4 unicast',
      '  neighbor masters route-reflector-client',
      '  maximum-paths ibgp 16',
    ]);
    await startMaster(lab, first);
    await startMaster(lab, second);
  });
  afterAll(async () => {
    await lab.destroy();
  });

  const paths = async (): Promise<readonly FrrPath[]> =>
    (await frr.show<{ paths?: FrrPath[] }>(`show bgp ipv4 unicast ${vip} json`)).paths ?? [];
  const pathOf = async (master: MasterHost): Promise<FrrPath | undefined> =>
    (await paths()).find(({ peer }) => peer.peerId === master.address);
  const eventually = { timeout: 10_000, interval: 50 };

  it('has sessions with both, by MD5 and GTSM, as members of a range', async () => {
    for (const master of [first, second]) {
      await expect
        .poll(() => frr.neighbor(master.address), eventually)
        .toMatchObject({ bgpState: 'Established' });
      const { routers } = await master.speaker.status();
      expect(routers).toMatchObject([{ address: lab.lb.address, session: 'Established', password: true }]);
    }
  });

  it('gets the VIP from each, with the master as next hop and the identity of the cluster', async () => {
    const identity = Number.parseInt(
      publicKeyHash(readPem(first.pkiFolder, 'ca.crt')).slice('sha256:'.length).slice(0, 8),
      16,
    );
    for (const master of [first, second]) {
      await expect
        .poll(() => pathOf(master), eventually)
        .toMatchObject({
          locPrf: 100,
          nexthops: [{ ip: master.address }],
          largeCommunity: { string: `${localAsn}:1:${identity}` },
        });
    }
  });

  it('forwards clients to both by its own multipath', async () => {
    await expect
      .poll(async () => Object.keys((await lab.client.open(20)).byMaster).sort(), eventually)
      .toEqual(['m1', 'm2']);
  });

  it('is told GRACEFUL_SHUTDOWN with LOCAL_PREF 0 by a master whose /readyz is red', async () => {
    await second.setApiServer('not-ready');
    await expect
      .poll(() => pathOf(second), eventually)
      .toMatchObject({
        locPrf: 0,
        community: { string: 'graceful-shutdown' },
        largeCommunity: { string: expect.stringContaining(`${localAsn}:2:2`) },
      });
    await second.setApiServer('ready');
    await expect.poll(() => pathOf(second), eventually).toMatchObject({ locPrf: 100 });
  });

  it('is told to move on, and then that the path is gone, by a master that drains', async () => {
    writeFileSync(second.path('run/drain'), '');
    await expect
      .poll(() => pathOf(second), eventually)
      .toMatchObject({
        locPrf: 0,
        largeCommunity: { string: expect.stringContaining(`${localAsn}:2:1`) },
      });
    await expect.poll(() => pathOf(second), eventually).toBeUndefined();
    expect(await frr.neighbor(second.address)).toMatchObject({ bgpState: 'Established' });
    rmSync(second.path('run/drain'));
    await expect.poll(() => pathOf(second), eventually).toMatchObject({ locPrf: 100 });
  });

  it('gets no path from a master whose API server is dead, and keeps the session', async () => {
    await second.setApiServer('closed');
    await expect.poll(() => pathOf(second), eventually).toBeUndefined();
    expect(await frr.neighbor(second.address)).toMatchObject({ bgpState: 'Established' });
    expect(await pathOf(first)).toBeDefined();
  });

  it('puts none of the reflected routes into the kernel of a master', async () => {
    const routes = await first.ipJson<{ dst: string }[]>('route', 'show', 'table', 'main');
    expect(routes.map(({ dst }) => dst).sort()).toEqual(['10.0.0.0/24', 'default']);
  });
});
