import type { InterfaceAddress, RouteSocket } from '@bgp-lb/linux';
import { ipVersion } from '@bgp-lb/protocol';
import type { VipConfig } from '../config/speaker-config.ts';

/** IFA_PROTO of the addresses that are ours (kernel 5.18 and later), the same number as the routes of bgp-lb have. */
export const ADDRESS_PROTOCOL = 84;

/**
 * Seconds that a VIP stays on this host after the speaker has last renewed it: the time that routers keep a stale path,
 * and 30 s. kill -9 and `kubeadm reset` give no chance to clean up; the kernel does it then.
 */
export const LEASE_SECONDS: number = 60 + 30;

/** The VIP addresses on the loopback interface. */
export class VipAddresses {
  readonly #routes: RouteSocket;
  readonly #vips: readonly VipConfig[];

  constructor(routes: RouteSocket, vips: readonly VipConfig[]) {
    this.#routes = routes;
    this.#vips = vips;
  }

  /** The VIPs that are on `lo` now. */
  found(): readonly VipConfig[] {
    const present = this.#routes.addresses({ index: this.#loopback() });
    return this.#vips.filter((vip) => present.some(({ address }) => address === vip.address));
  }

  /**
   * Makes the bound VIPs present and the others absent, with addresses that carry our tag and are no VIP any more.
   * @returns what was done, one phrase each
   */
  remove(bound: ReadonlySet<string>): readonly string[] {
    const index = this.#loopback();
    const leftovers = this.#routes.addresses({ index }).filter((entry) => this.#isLeftover(entry, bound));
    for (const { address, prefixLength } of leftovers)
      this.#routes.deleteAddress({ index, address, prefixLength });
    return leftovers.map(({ address }) => `removed ${address} from lo`);
  }

  /**
   * Puts the bound VIPs that are missing on `lo`, makes leases of those that another program put there for good, and then
   * removes the same address with another prefix length, which would take its whole subnet to this host.
   * @returns what was done, one phrase each
   */
  add(bound: ReadonlySet<string>): readonly string[] {
    const index = this.#loopback();
    return this.#vips.filter(({ address }) => bound.has(address)).flatMap((vip) => this.#settle(index, vip));
  }

  #settle(index: number, vip: VipConfig): readonly string[] {
    const entries = this.#routes.addresses({ index }).filter(({ address }) => address === vip.address);
    const own = entries.find(({ prefixLength }) => prefixLength === hostLength(vip.address));
    const others = entries.filter((entry) => entry !== own);
    const isMisscoped = own !== undefined && own.scope !== 'host' && ipVersion(vip.address) === 4;
    const remove = (): readonly string[] =>
      others.flatMap(({ address, prefixLength }) => {
        // Gone with its use for this, also one that was left by a process which ended in the middle of it.
        if (isMisscoped && prefixLength === interim(address)) return [];
        this.#routes.deleteAddress({ index, address, prefixLength });
        return [`removed ${address}/${prefixLength} from lo`];
      });
    if (own !== undefined && isLease(own)) return remove();
    // IPv6 has an address once per link and keeps its prefix length. IPv4 is never without it: a packet would be refused.
    if (ipVersion(vip.address) === 6) {
      const removed = remove();
      this.#set(index, vip);
      return [...removed, phrase(vip, own)];
    }
    if (isMisscoped) this.#rescope(index, vip);
    else this.#set(index, vip);
    return [phrase(vip, own), ...remove()];
  }

  /** An address keeps the scope that it was added with: it is added again, under another prefix length meanwhile. */
  #rescope(index: number, vip: VipConfig): void {
    const { address } = vip;
    const prefixLength = hostLength(address);
    this.#set(index, vip, interim(address));
    this.#routes.deleteAddress({ index, address, prefixLength });
    this.#set(index, vip);
    this.#routes.deleteAddress({ index, address, prefixLength: interim(address) });
  }

  /** Starts the lease of every bound VIP again. */
  renew(bound: ReadonlySet<string>): void {
    const index = this.#loopback();
    for (const vip of this.#vips) if (bound.has(vip.address)) this.#set(index, vip);
  }

  /** Scope `host` keeps IPv4 from taking it for a source towards other hosts; `preferredLifetime` says so to IPv6 alone. */
  #set(index: number, { address }: VipConfig, prefixLength = hostLength(address)): void {
    const isIpv6 = ipVersion(address) === 6;
    this.#routes.setAddress({
      index,
      address,
      prefixLength,
      scope: isIpv6 ? 'global' : 'host',
      noPrefixRoute: prefixLength < hostLength(address),
      validLifetime: LEASE_SECONDS,
      preferredLifetime: 0,
      noDad: isIpv6,
      protocol: ADDRESS_PROTOCOL,
    });
  }

  #isLeftover(entry: InterfaceAddress, bound: ReadonlySet<string>): boolean {
    if (bound.has(entry.address)) return false;
    return entry.protocol === ADDRESS_PROTOCOL || this.#vips.some(({ address }) => address === entry.address);
  }

  #loopback(): number {
    const index = this.#routes.links().find((link) => link.isLoopback)?.index;
    if (index === undefined) throw new Error('this network namespace has no loopback interface');
    return index;
  }
}

/** The prefix length of a VIP whose own entry is being replaced. */
function interim(address: string): number {
  return hostLength(address) - 1;
}

function hostLength(address: string): number {
  return ipVersion(address) === 6 ? 128 : 32;
}

/** As ours are: it ends by itself, and is never chosen as a source. */
export function isLease(entry: InterfaceAddress): boolean {
  const { address, scope, validLifetime, preferredLifetime } = entry;
  const isPassive = preferredLifetime === 0 && (ipVersion(address) === 6 || scope === 'host');
  return validLifetime !== undefined && isPassive;
}

function phrase({ address }: VipConfig, before: InterfaceAddress | undefined): string {
  return before === undefined ? `put ${address} on lo` : `made ${address} on lo a lease again`;
}
