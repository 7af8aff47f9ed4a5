/** A load balancer that has no interface to the masters' subnet: sessions over a router in between, packets through a tunnel. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localAsn } from '../../scripts/lab/addresses.ts';
import { bfdSettings } from '../../scripts/lab/bfd-settings.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import type { JsonObject } from '../../scripts/lab/object-store.ts';
import { startMaster } from '../kit/cluster.ts';

const waiting = { timeout: 60_000, interval: 100 } as const;
const lbAddress = '10.0.1.10';
const bfd = bfdSettings(300);

/** The address of a master in the tunnel's subnet. */
const tunnelled = (master: MasterHost): string => master.address.replace('10.0.0.', '10.9.0.');

describe('a load balancer two hops from the masters', () => {
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.create({
      masters: 2,
      controlPlane: 'stand-in',
      password: null,
      speaker: { routers: [{ address: lbAddress, asn: localAsn, holdTime: '3s', ttlSecurityHops: 2, bfd }] },
    });
    await lab.lb.exec(['ip', 'link', 'set', 'eth0', 'down']);
  }, 120_000);
  afterAll(async () => {
    await lab?.destroy();
  });

  /** Masters by their addresses, since each has a next hop of its own where `more` says so. */
  function neighbors(more: (master: MasterHost) => JsonObject): JsonObject[] {
    return lab.masters.map((master) => ({
      name: master.name,
      role: 'master',
      address: master.address,
      asn: localAsn,
      holdTime: '3s',
      ttlSecurityHops: 2,
      bfd,
      ...more(master),
    }));
  }

  /** VXLAN (RFC 7348) between the load balancer and the masters: a subnet that all of them are on. */
  async function makeTunnels(): Promise<void> {
    const device = (local: string): string[] => [
      ...['ip', 'link', 'add', 'vx0', 'type', 'vxlan', 'id', '9', 'dstport', '4789', 'local', local],
    ];
    await lab.lb.exec(device(lbAddress));
    await lab.lb.exec(['ip', 'address', 'add', '10.9.0.10/24', 'dev', 'vx0']);
    await lab.lb.exec(['ip', 'link', 'set', 'vx0', 'up']);
    for (const master of lab.masters) {
      await master.exec([...device(master.address), 'remote', lbAddress]);
      await master.exec(['ip', 'address', 'add', `${tunnelled(master)}/24`, 'dev', 'vx0']);
      await master.exec(['ip', 'link', 'set', 'vx0', 'up']);
      await lab.lb.exec([
        ...['bridge', 'fdb', 'append', '00:00:00:00:00:00', 'dev', 'vx0', 'dst', master.address],
      ]);
    }
  }

  const members = async (): Promise<readonly { nextHop: string; state: string; reason: string }[]> =>
    (await lab.lb.router.status()).vips[0]?.members ?? [];

  it('has sessions and BFD with them, and says why packets cannot go by the router in between', async () => {
    lab.lb.writeConfig({ neighbors: neighbors(() => ({})) });
    await lab.lb.router.start();
    await startMaster(lab, lab.master(1));
    await startMaster(lab, lab.master(2));
    const sessions = async (): Promise<unknown> => lab.lb.router.request('GET', '/api/v1/neighbors');
    const up = { state: 'Established', bfd: { state: 'Up', multihop: true } };
    await expect.poll(sessions, waiting).toMatchObject([up, up]);
    // That router would send a packet to the VIP by its own table, here back to this load balancer.
    const why = expect.stringContaining('is not on link: its route goes by 10.0.1.1 (eth1)');
    await expect.poll(members, waiting).toMatchObject([
      { state: 'out', reason: why },
      { state: 'out', reason: why },
    ]);
  });

  it('forwards to them through a tunnel, by memberAddress, and misses a dead one by BFD', async () => {
    await makeTunnels();
    await lab.lb.router.stop();
    lab.lb.writeConfig({ neighbors: neighbors((master) => ({ memberAddress: tunnelled(master) })) });
    await lab.lb.router.start();
    const all = lab.masters.map(tunnelled);
    await lab.lb.waitForPool(all, 60_000);
    expect(await lab.client.open(24)).toMatchObject({ opened: 24, failed: 0 });
    const { alive, broken } = await lab.client.check();
    expect({ alive, broken }).toEqual({ alive: 24, broken: 0 });
    await lab.client.closeAll();
    const victim = lab.master(2);
    await victim.powerOff();
    await lab.lb.waitForPool([tunnelled(lab.master(1))], 30_000);
    const dead = (await members()).find(({ nextHop }) => nextHop === tunnelled(victim));
    expect(dead).toMatchObject({ state: 'out', reason: expect.stringMatching(/^BFD down/) });
    expect(await lab.client.request()).toMatchObject({ ok: true });
  });
});
