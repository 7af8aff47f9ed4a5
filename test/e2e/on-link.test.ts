import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import type { Host } from '../../scripts/lab/host.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { LbHost } from '../../scripts/lab/lb-host.ts';
import { addresses, startMaster } from '../kit/cluster.ts';
import { httpOn } from '../kit/host-http.ts';

/** A VIP that no master has: what is asked for it here is who answers. */
const vip6 = 'fd00:100::100';
const eventually = { timeout: 30_000, interval: 100 };

interface OnLink {
  readonly address: string;
  readonly phase: string;
  readonly owner: string | null;
}

describe('a VIP that is an address of the subnet of masters and clients, with two load balancers', () => {
  let lab: Lab;
  /** A host of the subnet that is nothing but a client: the third master without anything that makes it one. */
  let client: Host;

  beforeAll(async () => {
    lab = await Lab.create({
      masters: 3,
      loadBalancers: 2,
      controlPlane: 'stand-in',
      router: {
        dataplane: { proxyInterfaces: ['eth0'] },
        vips: [
          { address: vipAddress, port: 6443, machinePort: 6443 },
          { address: vip6, port: 6443, machinePort: 6443 },
        ],
        neighbors: [
          { name: 'masters', role: 'master', range: '10.0.0.0/24', asn: 64512, passwordFile: undefined },
          { name: 'masters6', role: 'master', range: 'fd00:100::/64', asn: 64512 },
        ],
      },
      password: null,
    });
    client = lab.master(3);
    const hosts: readonly Host[] = [...lab.lbs, ...lab.masters];
    await Promise.all(
      hosts.map(async (host, index) => {
        for (const address of [`10.100.0.${200 + index}/24`, `fd00:100::${200 + index}/64`]) {
          await host.exec(['ip', 'address', 'add', address, 'dev', 'eth0', 'nodad']);
        }
      }),
    );
    await Promise.all(lab.lbs.map((lb) => lb.router.start()));
    await startMaster(lab, lab.master(1));
    await startMaster(lab, lab.master(2));
    for (const lb of lab.lbs) await lb.waitForPool(addresses([lab.master(1), lab.master(2)]), 20_000);
  });
  afterAll(async () => {
    await lab?.destroy();
  });

  async function claims(lb: LbHost): Promise<readonly OnLink[]> {
    const status = (await lb.router.request('GET', '/api/v1/status')) as unknown as { onLink: OnLink[] };
    return status.onLink;
  }

  async function phases(address: string, lbs: readonly LbHost[] = lab.lbs): Promise<string[]> {
    const all = await Promise.all(lbs.map(claims));
    return all.map((each) => each.find((one) => one.address === address)?.phase ?? '').sort();
  }

  async function answering(): Promise<LbHost> {
    const all = await Promise.all(lab.lbs.map(claims));
    const index = all.findIndex((each) =>
      each.some(({ address, phase }) => address === vipAddress && phase === 'answering'),
    );
    const found = lab.lbs[index];
    if (found === undefined) throw new Error('no load balancer answers');
    return found;
  }

  const readyz = (host: Host) =>
    httpOn(host, { protocol: 'https:', host: vipAddress, port: 6443, path: '/readyz', timeout: 10_000 });

  const linkAddress = async (host: Host): Promise<string> => {
    const text = await host.exec(['ip', '-j', 'link', 'show', 'dev', 'eth0']);
    const [link] = JSON.parse(text) as { address: string }[];
    return link?.address ?? '';
  };

  const neighbour = async (address: string): Promise<string> => {
    const text = await client.exec(['ip', '-j', 'neigh', 'show', address, 'dev', 'eth0']);
    const [entry] = JSON.parse(text === '' ? '[]' : text) as { lladdr?: string }[];
    return entry?.lladdr ?? '';
  };

  it('is answered for by exactly one of them, and serves clients of the subnet', async () => {
    await expect.poll(() => phases(vipAddress), eventually).toEqual(['answering', 'standby']);
    expect(await readyz(client)).toMatchObject({ status: 200 });
    expect(await neighbour(vipAddress)).toBe(await linkAddress(await answering()));
  });

  it('serves masters and the load balancers themselves too', async () => {
    for (const host of [lab.master(1), lab.master(2), ...lab.lbs]) {
      expect(await readyz(host)).toMatchObject({ status: 200 });
    }
  });

  it('is answered for over IPv6 as well, also while nobody serves it: clients need not wait', async () => {
    await expect.poll(() => phases(vip6), eventually).toContain('answering');
    const outcome = await httpOn(client, { host: vip6, port: 6443, timeout: 10_000 });
    expect(outcome.error).toMatch(/^E(CONNREFUSED|HOSTUNREACH|NETUNREACH|ACCES)$/);
    const all = await Promise.all(lab.lbs.map(linkAddress));
    expect(all).toContain(await neighbour(vip6));
  });

  it('is taken over by the other when the one that answers dies, and its clients are told', async () => {
    const first = await answering();
    const second = lab.lbs.find((lb) => lb !== first) ?? first;
    await first.powerOff();
    await expect.poll(() => phases(vipAddress, [second]), eventually).toEqual(['answering']);
    await expect.poll(() => neighbour(vipAddress), eventually).toBe(await linkAddress(second));
    expect(await readyz(client)).toMatchObject({ status: 200 });
  });
});
