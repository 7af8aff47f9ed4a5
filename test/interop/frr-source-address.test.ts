import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostAddress, localAsn, vipOf, vipPrefixOf } from '../../scripts/lab/addresses.ts';
import { Frr, hasFrr } from '../../scripts/lab/frr.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { startMaster } from '../kit/cluster.ts';

/** Addresses of the master beside its own: FRR takes sessions from these only. */
const source = { ipv4: hostAddress('ipv4', 'masters', 201), ipv6: hostAddress('ipv6', 'masters', 201) };
const eventually = { timeout: 30_000, interval: 50 };

/** A path as FRR's `show bgp FAMILY unicast PREFIX json` has it. */
interface FrrPath {
  readonly peer: { readonly peerId: string };
  readonly nexthops: readonly { readonly ip: string; readonly scope?: string }[];
}

describe.skipIf(!hasFrr())('our speaker with a source address of its own, and FRR 8.4 as the router', () => {
  let lab: Lab;
  let frr: Frr;
  let master: MasterHost;

  beforeAll(async () => {
    const routers = (['ipv4', 'ipv6'] as const).map((family) => ({
      address: hostAddress(family, 'masters', 10),
      asn: localAsn,
      holdTime: '3s',
      ttlSecurityHops: 1,
      sourceAddress: source[family],
    }));
    lab = await Lab.create({
      masters: 1,
      families: ['ipv4', 'ipv6'],
      controlPlane: 'stand-in',
      speaker: { routers },
    });
    master = lab.master(1);
    await master.exec(['ip', 'address', 'add', `${source.ipv4}/24`, 'dev', 'eth0']);
    await master.exec(['ip', 'address', 'add', `${source.ipv6}/64`, 'dev', 'eth0', 'nodad']);
    frr = new Frr(lab.lb);
    await frr.start([
      `router bgp ${localAsn}`,
      ` bgp router-id ${lab.lb.address}`,
      ...Object.values(source).flatMap((address) => [
        ` neighbor ${address} remote-as ${localAsn}`,
        ` neighbor ${address} ttl-security hops 1`,
        ` neighbor ${address} timers 1 3`,
      ]),
      ' address-family ipv4 unicast',
      `  no neighbor ${source.ipv6} activate`,
      ' exit-address-family',
      ' address-family ipv6 unicast',
      `  neighbor ${source.ipv6} activate`,
    ]);
    await startMaster(lab, master);
  });
  afterAll(async () => {
    await lab?.destroy();
  });

  async function nextHops(family: 'ipv4' | 'ipv6'): Promise<FrrPath['nexthops']> {
    const { paths = [] } = await frr.show<{ paths?: FrrPath[] }>(
      `show bgp ${family} unicast ${vipPrefixOf(family)} json`,
    );
    return paths.flatMap(({ nexthops }) => nexthops);
  }

  it.each(['ipv4', 'ipv6'] as const)('connects from it over %s', async (family) => {
    await expect
      .poll(() => frr.neighbor(source[family]), eventually)
      .toMatchObject({ bgpState: 'Established', connectionsEstablished: 1 });
  });

  it('is the next hop itself, over IPv6 with its link-local address beside it (RFC 2545 section 3)', async () => {
    await expect
      .poll(() => nextHops('ipv4'), eventually)
      .toEqual([expect.objectContaining({ ip: source.ipv4 })]);
    const links = await master.ipJson<{ addr_info?: { local?: string; scope?: string }[] }[]>(
      ...['address', 'show', 'dev', 'eth0'],
    );
    const linkLocal = links
      .flatMap(({ addr_info = [] }) => addr_info)
      .find(({ scope }) => scope === 'link')?.local;
    expect(linkLocal).toMatch(/^fe80:/);
    await expect
      .poll(() => nextHops('ipv6'), eventually)
      .toEqual([
        expect.objectContaining({ ip: source.ipv6, scope: 'global' }),
        expect.objectContaining({ ip: linkLocal, scope: 'link-local' }),
      ]);
  });

  it.each(['ipv4', 'ipv6'] as const)(
    'is reached by what FRR puts into its kernel, over %s',
    async (family) => {
      const connect = `require('node:net').connect(6443, '${vipOf(family)}')
      .on('connect', () => process.exit(0)).on('error', (error) => { console.error(error.code); process.exit(1); })`;
      await expect
        .poll(() => lab.lb.exec([process.execPath, '-e', connect]).catch(String), eventually)
        .toBe('');
      const [route] = await lab.lb.ipJson<{ gateway?: string; protocol?: string }[]>(
        ...[family === 'ipv4' ? '-4' : '-6', 'route', 'show', vipOf(family)],
      );
      const gateway = family === 'ipv4' ? source.ipv4 : expect.stringMatching(/^fe80:/);
      expect(route).toMatchObject({ gateway, protocol: 'bgp' });
    },
  );
});
