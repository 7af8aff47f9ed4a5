import { type AddressFamily, vipOf } from '../../scripts/lab/addresses.ts';
import type { ClientHost } from '../../scripts/lab/client-host.ts';
import type { Host } from '../../scripts/lab/host.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { LbHost } from '../../scripts/lab/lb-host.ts';
import type { JsonObject } from '../../scripts/lab/object-store.ts';
import { startMaster } from './cluster.ts';

export const families = ['ipv4', 'ipv6'] as const;
/** A VIP that no master has: what is asked for it here is who answers. */
export const unserved = 'fd62:6770:6c62:64::dead';
/** Both VIPs are addresses of these subnets. */
const subnets: Readonly<Record<AddressFamily, readonly [start: string, length: number]>> = {
  ipv4: ['10.100.0.', 24],
  ipv6: ['fd62:6770:6c62:64::', 64],
};

/** The part of addresses of that subnet before the host number. */
export function subnetStart(family: AddressFamily): string {
  return subnets[family][0];
}

/** A VIP on a link, as the router's status has it. */
export interface OnLink {
  readonly address: string;
  readonly phase: string;
  readonly owner: string | null;
  readonly isOwnerPeer: boolean;
  readonly problem: string;
}

/** An address as ip(8) prints it in JSON. */
interface Detected {
  readonly local: string;
  readonly dadfailed?: boolean;
  readonly tentative?: boolean;
}

/** Two masters, two load balancers and a client in one segment, with VIPs that are addresses of its subnets. */
export class OnLinkLab {
  readonly lab: Lab;

  private constructor(lab: Lab) {
    this.lab = lab;
  }

  /** @param dataplane keys of router.yaml */
  static async create(dataplane: JsonObject = {}): Promise<OnLinkLab> {
    const lab = await Lab.create({
      families,
      masters: 2,
      loadBalancers: 2,
      controlPlane: 'stand-in',
      router: {
        dataplane: { proxyInterfaces: ['eth0'], ...dataplane },
        vips: [...families.map(vipOf), unserved].map((address) => ({
          address,
          port: 6443,
          machinePort: 6443,
        })),
      },
      // A machine that is busy is not to look like an API server that is not well.
      speaker: { apiServer: { timeout: '2s', fall: 5 } },
    });
    try {
      const all = new OnLinkLab(lab);
      await all.#start();
      return all;
    } catch (error) {
      await lab.destroy();
      throw error;
    }
  }

  /** A host of the segment that is nothing but a client, and has forwarding to nowhere. */
  get client(): ClientHost {
    return this.lab.client;
  }

  async #start(): Promise<void> {
    const { lab, client } = this;
    await lab.switch.plug([
      {
        port: 'client-onlink',
        bridge: 'masters',
        namespace: client.namespace,
        device: 'eth1',
        hostNumber: 2,
      },
    ]);
    await client.exec(['ip', 'link', 'set', 'eth1', 'up']);
    await this.address(client, 'eth1', 200);
    const hosts = [...lab.lbs, ...lab.masters];
    await Promise.all(hosts.map((host, index) => this.address(host, 'eth0', 201 + index)));
    await Promise.all(lab.lbs.map((lb) => lb.router.start()));
    await startMaster(lab, lab.master(1));
    await startMaster(lab, lab.master(2));
    const served = families.length;
    for (const lb of lab.lbs) {
      await lb.router.waitFor(
        'both masters active for each VIP that they have',
        ({ vips }) =>
          vips.filter(({ members }) => members.filter(({ state }) => state === 'active').length === 2)
            .length === served,
        60_000,
      );
    }
  }

  /** Gives a host addresses of the subnets that the VIPs are in. */
  async address(host: Host, device: string, number: number): Promise<void> {
    for (const family of families) {
      const [start, length] = subnets[family];
      await host.exec(['ip', 'address', 'add', `${start}${number}/${length}`, 'dev', device, 'nodad']);
    }
  }

  /**
   * Gives a host an address that another has, as its operator would: IPv6 with duplicate address detection (RFC 4862 section 5.4), which
   * the lab does without elsewhere. IPv4 has none in the kernel.
   */
  async duplicate(host: Host, address: string, ...more: string[]): Promise<void> {
    const isIpv6 = address.includes(':');
    if (isIpv6) await host.writeSysctls({ 'net.ipv6.conf.eth0.dad_transmits': '1' });
    const length = isIpv6 ? 128 : 32;
    await host.exec(['ip', 'address', 'add', `${address}/${length}`, 'dev', 'eth0', ...more]);
  }

  async remove(host: Host, address: string): Promise<void> {
    const length = address.includes(':') ? 128 : 32;
    await host.exec(['ip', 'address', 'delete', `${address}/${length}`, 'dev', 'eth0']);
  }

  /** What the kernel of a host says of duplicate address detection: `dadfailed`, `tentative`, or nothing for an address that is in use. */
  async detection(host: Host, device: string): Promise<ReadonlyMap<string, string>> {
    const [link] = await host.ipJson<{ addr_info: Detected[] }[]>('-6', 'address', 'show', 'dev', device);
    return new Map(
      (link?.addr_info ?? []).map((one) => {
        const failed = one.dadfailed === true ? 'dadfailed' : '';
        return [one.local, failed === '' && one.tentative === true ? 'tentative' : failed];
      }),
    );
  }

  async claims(lb: LbHost): Promise<readonly OnLink[]> {
    const status = (await lb.router.request('GET', '/api/v1/status')) as unknown as { onLink: OnLink[] };
    return status.onLink;
  }

  /** In order: `answering`, `standby`. */
  async phases(address: string, lbs: readonly LbHost[] = this.lab.lbs): Promise<string[]> {
    const all = await Promise.all(lbs.map((lb) => this.claims(lb)));
    return all.map((each) => each.find((one) => one.address === address)?.phase ?? '').sort();
  }

  /** Who answers, and who does not. */
  async roles(address: string): Promise<{ readonly answering: LbHost; readonly standby: LbHost }> {
    const phases = await Promise.all(this.lab.lbs.map((lb) => this.phases(address, [lb])));
    const answering = this.lab.lbs.find((_lb, index) => phases[index]?.[0] === 'answering');
    const standby = this.lab.lbs.find((lb) => lb !== answering);
    if (answering === undefined || standby === undefined) throw new Error(`nobody answers for ${address}`);
    return { answering, standby };
  }

  /** The link-layer address of a host's interface. */
  async linkAddress(host: Host, device = 'eth0'): Promise<string> {
    const [link] = await host.ipJson<{ address: string }[]>('link', 'show', 'dev', device);
    return link?.address ?? '';
  }

  /** The link-layer address that the client knows for an IP address; empty when it knows none. */
  async known(address: string): Promise<string> {
    const [entry] = await this.client.ipJson<{ lladdr?: string }[]>('neigh', 'show', address, 'dev', 'eth1');
    return entry?.lladdr ?? '';
  }
}

/** Redirects that a host has sent since it was switched on (OutRedirects, RFC 2011 and RFC 2466). */
export async function redirectsSent(host: Host): Promise<Record<AddressFamily, number>> {
  const text = await host.exec(['sh', '-c', 'cat /proc/net/snmp /proc/net/snmp6']);
  const [names = [], values = []] = text
    .split('\n')
    .filter((line) => line.startsWith('Icmp:'))
    .map((line) => line.split(' '));
  return {
    ipv4: Number(values[names.indexOf('OutRedirects')]),
    ipv6: Number(/^Icmp6OutRedirects\s+(\d+)$/m.exec(text)?.[1]),
  };
}
