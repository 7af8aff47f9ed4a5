import { existsSync } from 'node:fs';
import { type Link, NetlinkError, PacketSocket, RouteSocket, readSysctl, writeSysctl } from '@bgp-lb/linux';
import { ipVersion } from '@bgp-lb/protocol';
import type { Clock } from '@bgp-lb/protocol/node';
import type { LinkSocket } from './link-segment.ts';
import { isVirtualLink, type VirtualLink, virtualLinkFault, virtualLinkOf } from './virtual-link.ts';

/** Milliseconds between two looks at the devices. */
const CHECK = 10_000;
/**
 * The IPv4 dummy address (RFC 7600 section 4.8), which no other host has and none can send to. Without an address rp_filter refuses
 * everything that comes by a device.
 */
const DUMMY = { address: '192.0.0.8', prefixLength: 32 } as const;

export interface VirtualLinksOptions {
  readonly clock: Clock;
  /** The protocol number of what is ours. */
  readonly protocol: number;
  /** A device had been changed, and it is as it should be again. */
  repaired(what: readonly string[]): void;
  /** It cannot be made so. */
  failing(problem: string): void;
}

/** A device that is wanted. */
interface Held extends VirtualLink {
  readonly address: string;
  readonly parent: number;
  isServing: boolean;
  socket: PacketSocket | undefined;
}

/**
 * Macvlan devices that answer for VIPs, each with the link-layer address that goes with its VIP. The kernel answers by them, as a proxy,
 * also while this process does not run: it may, since packets leave by another link than they come by. They outlive the process, and the
 * next one takes them over.
 */
export class VirtualLinks {
  readonly #options: VirtualLinksOptions;
  readonly #routes = new RouteSocket();
  readonly #held = new Map<string, Held>();
  #cancel: () => void = () => undefined;
  #isClosed = false;

  constructor(options: VirtualLinksOptions) {
    this.#options = options;
    this.#armCheck();
  }

  /** Removes devices of ours on other links, or for other addresses. */
  sweep(interfaces: readonly string[], addresses: readonly string[]): void {
    const links = this.#routes.links();
    const parents = links.filter(({ name }) => interfaces.includes(name));
    const wanted = parents.flatMap(({ index }) => addresses.map((one) => virtualLinkOf(one, index).name));
    for (const link of links.filter(isVirtualLink)) {
      if (!wanted.includes(link.name)) removeLink(this.#routes, link.index);
    }
  }

  /** Why there can be no device on a link. */
  faultOf(link: Link): string | undefined {
    return virtualLinkFault(link, this.#routes.links(), existsSync(`/sys/class/net/${link.name}/phy80211`));
  }

  /** Whether the kernel answers for an address there, as an earlier process has left it. */
  isHeld(address: string, parent: number): boolean {
    const { name } = virtualLinkOf(address, parent);
    const link = this.#routes.links().find((one) => one.name === name && isVirtualLink(one));
    const proxies = link === undefined ? [] : this.#routes.neighborProxies();
    return link?.isUp === true && proxies.some((one) => one.index === link.index && one.address === address);
  }

  /**
   * Makes the device and the kernel's proxy, or changes them; nothing happens when all is as it should be.
   * @param isServing whether the kernel is to answer: otherwise this process does alone, and can keep silent for another's sake
   * @returns what speaks by the device
   * @throws NetlinkError, SysctlError, SystemCallError when it cannot be made
   */
  hold(address: string, parent: number, isServing: boolean): LinkSocket {
    const virtual = virtualLinkOf(address, parent);
    const held = this.#held.get(virtual.name) ?? {
      ...virtual,
      address,
      parent,
      isServing,
      socket: undefined,
    };
    held.isServing = isServing;
    this.#held.set(virtual.name, held);
    this.#ensure(held);
    return {
      send: (packet, to) => held.socket?.send(packet, to),
      close: () => held.socket?.close(),
    };
  }

  /** Removes the device: another has the address. */
  release(address: string, parent: number): void {
    const { name } = virtualLinkOf(address, parent);
    this.#held.get(name)?.socket?.close();
    this.#held.delete(name);
    const link = this.#routes.links().find((one) => one.name === name && isVirtualLink(one));
    if (link !== undefined) removeLink(this.#routes, link.index);
  }

  /** The devices stay. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancel();
    for (const { socket } of this.#held.values()) socket?.close();
    this.#routes.close();
  }

  #armCheck(delay: number = CHECK): void {
    this.#cancel();
    if (!this.#isClosed) this.#cancel = this.#options.clock.after(delay, () => this.#check());
  }

  #check(): void {
    this.#armCheck();
    for (const held of this.#held.values()) {
      try {
        const changed = this.#ensure(held);
        if (changed.length > 0) this.#options.repaired(changed);
      } catch (error) {
        this.#options.failing(error instanceof Error ? error.message : String(error));
      }
    }
  }

  /** @returns what had to be changed */
  #ensure(held: Held): string[] {
    const changed: string[] = [];
    const link = this.#ensureLink(held, changed);
    if (changed.length > 0 || !link.isUp) {
      // It is of a device that is gone or was down, whether it has been told of that or not: a send would fail, and the VIP be given up.
      held.socket?.close();
      held.socket = undefined;
    }
    for (const [name, value] of deviceSysctls(held)) {
      if (readSysctl(name) === value) continue;
      writeSysctl(name, value);
      changed.push(`sysctl ${name} = ${value}`);
    }
    const { index } = link;
    if (!this.#routes.addresses({ index }).some(({ address }) => address === DUMMY.address)) {
      this.#routes.setAddress({ index, ...DUMMY, scope: 'host' });
      changed.push(`${DUMMY.address} on ${held.name}`);
    }
    if (!link.isUp) {
      this.#routes.setLinkUp(index);
      changed.push(`${held.name} up`);
    }
    this.#ensureProxy(held, index, changed);
    held.socket ??= this.#open(held, index);
    return changed;
  }

  #ensureLink({ name, address, parent, linkAddress, alias }: Held, changed: string[]): Link {
    const find = (): Link | undefined => this.#routes.links().find((link) => link.name === name);
    const found = find();
    const isRight = found?.kind === 'macvlan' && found.parent === parent && found.address === linkAddress;
    if (found !== undefined && !isRight) {
      if (!isVirtualLink(found)) throw new Error(`the interface ${name} is somebody else's`);
      removeLink(this.#routes, found.index);
    }
    if (!isRight) {
      this.#routes.addMacvlan({ name, parent, address: linkAddress });
      changed.push(`macvlan ${name} ${linkAddress} for ${address}`);
    }
    const link = isRight ? found : find();
    if (link === undefined) throw new Error(`the interface ${name} is gone again`);
    if (link.alias !== alias) this.#routes.setLinkAlias(link.index, alias);
    return link;
  }

  #ensureProxy({ address, isServing, name }: Held, index: number, changed: string[]): void {
    const proxy = { index, address };
    const isThere = this.#routes
      .neighborProxies()
      .some((one) => one.index === index && one.address === address);
    if (isServing === isThere) return;
    if (isServing) this.#routes.setNeighborProxy(proxy, this.#options.protocol);
    else this.#routes.deleteNeighborProxy(proxy);
    changed.push(`${isServing ? 'proxy' : 'no proxy'} for ${address} on ${name}`);
  }

  #open(held: Held, index: number): PacketSocket {
    return new PacketSocket(
      { index, addresses: [held.address] },
      {
        // The segment hears what comes by the link below.
        packet: () => undefined,
        lost: () => {
          held.socket = undefined;
          this.#armCheck(0);
        },
      },
    );
  }
}

/** Removes all devices of ours. @returns what was, or with `isDry` would be */
export function removeVirtualLinks(routes: RouteSocket, isDry: boolean): string[] {
  return routes
    .links()
    .filter(isVirtualLink)
    .map(({ name, index, address }) => {
      if (!isDry) removeLink(routes, index);
      return `macvlan ${name} ${address ?? ''}`.trimEnd();
    });
}

function removeLink(routes: RouteSocket, index: number): void {
  try {
    routes.deleteLink(index);
  } catch (error) {
    // Gone with the link that it was on.
    if (!(error instanceof NetlinkError && error.errno === 'ENODEV')) throw error;
  }
}

/** Settings of a device, in the order in which they are to be made. */
function deviceSysctls({ name, address }: Held): [name: string, value: string][] {
  const ipv4 = (setting: string): string => `net.ipv4.conf.${name}.${setting}`;
  const ipv6 = (setting: string): string => `net.ipv6.conf.${name}.${setting}`;
  const always: [string, string][] = [
    // Every address of this host is local on every link: without this the device would answer for all of them.
    [ipv4('arp_ignore'), '8'],
    // Answers of this host to clients do not leave by it. The larger of this and `all` counts.
    [ipv4('rp_filter'), '2'],
  ];
  if (ipVersion(address) === 4) {
    return [
      ...always,
      [ipv4('forwarding'), '1'],
      // Otherwise the kernel waits for up to 0.8 s before it answers for another.
      [`net.ipv4.neigh.${name}.proxy_delay`, '0'],
    ];
  }
  return [
    ...always,
    [ipv6('forwarding'), '1'],
    [ipv6('accept_ra'), '0'],
    // The other load balancer's device has the same link-local address, and is down or gone.
    [ipv6('accept_dad'), '0'],
    [ipv6('proxy_ndp'), '1'],
    [`net.ipv6.neigh.${name}.proxy_delay`, '0'],
  ];
}
