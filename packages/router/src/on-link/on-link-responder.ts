import {
  AddressFlag,
  arpLinks,
  type InterfaceAddress,
  type Link,
  PacketSocket,
  RouteSocket,
} from '@bgp-lb/linux';
import { ipVersion } from '@bgp-lb/protocol';
import type { Clock } from '@bgp-lb/protocol/node';
import { arpLanguage } from './arp.ts';
import type { ClaimPhase, ClaimState } from './claim.ts';
import type { LinkLanguage, SharedIdentity } from './link-message.ts';
import { LinkSegment, type LinkSegmentOptions, type LinkVoice } from './link-segment.ts';
import { neighborDiscoveryLanguage } from './ndp.ts';
import { sharedLinkAddress } from './virtual-link.ts';
import type { VirtualLinks } from './virtual-links.ts';

/** Milliseconds between two attempts to speak on a link that is not there. */
const RETRY = 1_000;

/** A VIP on one link, as status shows it. */
export interface OnLinkStatus {
  /** Address without length. */
  readonly address: string;
  readonly interface: string;
  /** `absent`: the link is not there, or cannot be spoken on. */
  readonly phase: ClaimPhase | 'absent';
  /** The link-layer address of another host that claims it. */
  readonly owner: string | null;
  /** That host is a load balancer of this kind: which of them answers is settled by itself. False where there is no owner. */
  readonly isOwnerPeer: boolean;
  /** Why it is `absent`; empty otherwise. */
  readonly problem: string;
}

/** A change of it. */
export interface OnLinkChange extends OnLinkStatus {
  readonly from: OnLinkStatus['phase'];
}

/** What the links of this host are, and how they are spoken on. */
export interface OnLinkHost {
  links(): readonly Link[];
  addresses(): readonly InterfaceAddress[];
  open(
    options: { readonly index: number; readonly addresses: readonly string[] },
    handlers: Parameters<LinkSegmentOptions['open']>[1],
  ): ReturnType<LinkSegmentOptions['open']>;
}

/** The links of the network namespace that this process is in. */
export const linuxOnLinkHost: OnLinkHost = {
  links: () => withRoutes((routes) => routes.links()),
  addresses: () => withRoutes((routes) => routes.addresses()),
  open: (options, handlers) => new PacketSocket(options, handlers),
};

function withRoutes<T>(ask: (routes: RouteSocket) => T): T {
  const routes = new RouteSocket();
  try {
    return ask(routes);
  } finally {
    routes.close();
  }
}

export interface OnLinkResponderOptions {
  readonly interfaces: readonly string[];
  /** Addresses of the VIPs, without length. */
  readonly addresses: readonly string[];
  readonly host: OnLinkHost;
  readonly clock: Clock;
  /** Devices to answer by; without them answers have the link's own address. */
  readonly virtualLinks?: VirtualLinks | undefined;
  /** Who answers is decided by VRRP, and told by `setOwner`: nothing is answered before. */
  readonly isOrdered?: boolean;
  changed(change: OnLinkChange): void;
}

/** One IP version on one interface. */
interface Place {
  readonly interface: string;
  addresses: readonly string[];
  readonly version: 4 | 6;
  segment: LinkSegment | undefined;
  problem: string;
  cancel: () => void;
}

/**
 * Answers ARP and neighbor solicitations for VIPs that are addresses of a subnet of this host, which it never owns. The kernel
 * cannot do it: its proxy for IPv4 keeps silent where the route to the address leaves by the link that the question came by.
 */
export class OnLinkResponder {
  readonly #options: OnLinkResponderOptions;
  readonly #serving = new Set<string>();
  readonly #places: readonly Place[];
  /** Since when each VIP is in its phase on each link, by `placeKey`. */
  readonly #since = new Map<string, number>();
  #isOwner = false;
  #isStarted = false;
  #isStopped = false;

  constructor(options: OnLinkResponderOptions) {
    this.#options = options;
    this.#places = options.interfaces.flatMap((name) =>
      ([4, 6] as const).map((version): Place => {
        const place = { interface: name, version, segment: undefined, problem: 'not started' };
        return { ...place, addresses: ofVersion(options.addresses, version), cancel: () => undefined };
      }),
    );
    for (const { interface: name, addresses } of this.#places) this.#begin(name, addresses);
  }

  start(): void {
    const { virtualLinks, interfaces } = this.#options;
    this.#isStarted = true;
    virtualLinks?.sweep(interfaces, [...new Set(this.#places.flatMap(({ addresses }) => addresses))]);
    for (const place of this.#places) this.#open(place);
  }

  /** The VIPs from now on; what is said and heard of those that stay goes on. */
  setAddresses(addresses: readonly string[]): void {
    for (const address of this.#serving) {
      if (!addresses.includes(address)) this.#serving.delete(address);
    }
    for (const place of this.#places) {
      const wanted = ofVersion(addresses, place.version);
      if (wanted.join() !== place.addresses.join()) this.#setAddresses(place, wanted);
    }
  }

  #setAddresses(place: Place, addresses: readonly string[]): void {
    const hadNone = place.addresses.length === 0;
    for (const address of place.addresses) {
      if (!addresses.includes(address)) this.#since.delete(placeKey(place.interface, address));
    }
    this.#begin(
      place.interface,
      addresses.filter((address) => !place.addresses.includes(address)),
    );
    place.addresses = addresses;
    const before = addresses.map((address) => statusOf(place, address));
    if (addresses.length === 0) {
      place.cancel();
      place.segment?.withdraw();
      place.segment = undefined;
    } else if (hadNone && this.#isStarted) {
      this.#open(place);
    } else {
      const { segment } = place;
      try {
        segment?.setAddresses(addresses);
      } catch (error) {
        segment?.withdraw();
        this.#absent(place, error instanceof Error ? error.message : String(error));
        for (const one of before) this.#tell(place, one);
      }
    }
  }

  /** Whether the pool of a VIP has a member: only then is its address held against others. */
  setServing(address: string, isServing: boolean): void {
    if (this.#serving.has(address) === isServing) return;
    if (isServing) this.#serving.add(address);
    else this.#serving.delete(address);
    for (const { segment } of this.#places) segment?.setServing(address, isServing);
  }

  /** VRRP has given this host the VIPs, or taken them. */
  setOwner(isOwner: boolean): void {
    if (this.#isOwner === isOwner) return;
    this.#isOwner = isOwner;
    for (const { segment } of this.#places) segment?.setOwner(isOwner);
  }

  /** Another host may have told clients that it has the VIPs, while VRRP has given them to this one. */
  announceAgain(): void {
    if (!this.#isOwner) return;
    for (const { segment } of this.#places) segment?.setOwner(true);
  }

  status(): OnLinkStatus[] {
    return this.#places.flatMap((place) => place.addresses.map((address) => statusOf(place, address)));
  }

  /** Since when a VIP of `status` is in its phase (monotonic ms). */
  sinceOf({ interface: name, address }: Pick<OnLinkStatus, 'interface' | 'address'>): number {
    return this.#since.get(placeKey(name, address)) ?? this.#options.clock.now();
  }

  #begin(name: string, addresses: readonly string[]): void {
    for (const address of addresses) this.#since.set(placeKey(name, address), this.#options.clock.now());
  }

  stop(): void {
    this.#isStopped = true;
    for (const { segment, cancel } of this.#places) {
      cancel();
      segment?.close();
    }
    this.#options.virtualLinks?.close();
  }

  #open(place: Place): void {
    if (this.#isStopped || place.addresses.length === 0) return;
    const before = place.addresses.map((address) => statusOf(place, address));
    try {
      place.segment = this.#speakOn(place);
      place.problem = '';
    } catch (error) {
      this.#absent(place, error instanceof Error ? error.message : String(error));
    }
    for (const one of before) this.#tell(place, one);
  }

  #absent(place: Place, problem: string): void {
    place.segment = undefined;
    place.problem = problem;
    place.cancel = this.#options.clock.after(RETRY, () => this.#open(place));
  }

  /** Only what has changed is told: an attempt that fails for the same reason is no news. */
  #tell(place: Place, before: OnLinkStatus): void {
    const now = statusOf(place, before.address);
    const isSameOwner = now.owner === before.owner && now.isOwnerPeer === before.isOwnerPeer;
    if (now.phase === before.phase && isSameOwner && now.problem === before.problem) return;
    if (now.phase !== before.phase) this.#begin(place.interface, [now.address]);
    this.#options.changed({ ...now, from: before.phase });
  }

  #speakOn(place: Place): LinkSegment {
    const { host, clock, virtualLinks } = this.#options;
    const link = host.links().find(({ name }) => name === place.interface);
    if (link === undefined) throw new Error(`there is no interface ${place.interface}`);
    if (!link.isUp) throw new Error(`${place.interface} is down`);
    const own = link.address;
    const addresses = host.addresses();
    if (own === undefined || (place.version === 4 && !arpLinks([link], addresses).includes(link))) {
      throw new Error(`${place.interface} has no neighbors: no link-layer address, or no IPv4 address`);
    }
    const fault = virtualLinks?.faultOf(link);
    if (fault !== undefined) throw new Error(fault);
    return new LinkSegment({
      addresses: place.addresses,
      own,
      language: languageOn({ ...link, address: own }, place.version, addresses, virtualLinks !== undefined),
      voice: virtualLinks && voiceOn(link, virtualLinks),
      clock,
      open: (addresses, handlers) => host.open({ index: link.index, addresses }, handlers),
      isServing: (address) => this.#serving.has(address),
      isOwner: this.#options.isOrdered === true ? () => this.#isOwner : undefined,
      changed: (address, before) => this.#tell(place, statusFrom(place, address, before)),
      lost: (error) => {
        const before = place.addresses.map((address) => statusOf(place, address));
        this.#absent(place, error.message);
        for (const one of before) this.#tell(place, one);
      },
    });
  }
}

function placeKey(name: string, address: string): string {
  return `${name} ${address}`;
}

function ofVersion(addresses: readonly string[], version: 4 | 6): readonly string[] {
  return addresses.filter((address) => ipVersion(address) === version);
}

/** What devices on a link say, and with which address. */
function voiceOn({ index }: Link, virtualLinks: VirtualLinks): LinkVoice {
  return {
    isHeld: (address) => virtualLinks.isHeld(address, index),
    hold: (address, isServing) => virtualLinks.hold(address, index, isServing),
    release: (address) => virtualLinks.release(address, index),
  };
}

function languageOn(
  link: Link & { readonly address: string },
  version: 4 | 6,
  addresses: readonly InterfaceAddress[],
  isShared: boolean,
): LinkLanguage {
  const asker = addresses.find(({ index, address }) => index === link.index && ipVersion(address) === 4);
  const shared: SharedIdentity | undefined = isShared ? { linkOf: sharedLinkAddress } : undefined;
  return version === 4
    ? arpLanguage(link.address, asker?.address ?? '0.0.0.0', shared)
    : neighborDiscoveryLanguage(link.address, source(addresses, link), shared);
}

function statusOf(place: Place, address: string): OnLinkStatus {
  const state = place.segment?.stateOf(address);
  if (state !== undefined) return statusFrom(place, address, state);
  const { interface: name, problem } = place;
  return { address, interface: name, phase: 'absent', owner: null, isOwnerPeer: false, problem };
}

function statusFrom(
  { interface: name }: Place,
  address: string,
  { phase, owner, isOwnerPeer }: ClaimState,
): OnLinkStatus {
  return {
    address,
    interface: name,
    phase,
    owner: owner ?? null,
    isOwnerPeer: owner !== undefined && isOwnerPeer,
    problem: '',
  };
}

/**
 * Answers are from an address of ours on that link, a link-local one where there is one (RFC 4861 section 4.4), and never from one that
 * may be another's (RFC 4862 section 5.4).
 */
function source(addresses: readonly InterfaceAddress[], { index, name }: Link): string {
  const all = addresses.filter((one) => one.index === index && ipVersion(one.address) === 6);
  const unsure = AddressFlag.Tentative | AddressFlag.DadFailed;
  const own = all.filter(({ flags }) => (flags & unsure) === 0);
  const found = own.find(({ address }) => address.startsWith('fe80:')) ?? own[0];
  if (found === undefined) {
    const why = all.length === 0 ? '' : ' that passed duplicate address detection';
    throw new Error(`${name} has no IPv6 address${why}`);
  }
  return found.address;
}
