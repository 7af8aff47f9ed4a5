/** The upstream router: gateway of masters and client, with a static route to the VIP or with FRR speaking BGP. */
import { localAsn, upstreamAsn, vipAddress } from './addresses.ts';
import { Frr } from './frr.ts';
import { Host, type HostPlan } from './host.ts';
import type { Switch } from './switch.ts';
import { waitUntil } from './wait-until.ts';

/** How the upstream router comes by its route to the VIP. */
export type UpstreamKind = 'static' | 'frr';

/** The upstream router. */
export class UpstreamHost extends Host {
  readonly kind: UpstreamKind;
  /** Runs only where the kind is `frr`. */
  readonly frr: Frr;
  readonly #lbAddresses: readonly string[];

  constructor(plan: HostPlan, labSwitch: Switch, kind: UpstreamKind, lbAddresses: readonly string[]) {
    super(plan, labSwitch);
    this.kind = kind;
    this.frr = new Frr(this);
    this.#lbAddresses = lbAddresses;
  }

  override async powerOn(): Promise<void> {
    await super.powerOn();
    if (this.kind === 'frr') await this.startFrr();
    else await this.setStaticRoute();
  }

  /** Routes the VIP to all load balancers. */
  async setStaticRoute(): Promise<void> {
    const hops = this.#lbAddresses.flatMap((address) => ['nexthop', 'via', address]);
    await this.exec(['ip', 'route', 'replace', `${vipAddress}/32`, ...hops]);
  }

  /** Starts zebra and bgpd, configured for sessions with all load balancers. */
  startFrr(): Promise<void> {
    return this.frr.start(this.#bgpConfig());
  }

  #bgpConfig(): string[] {
    const neighbors = this.#lbAddresses.flatMap((address) => [
      ` neighbor ${address} remote-as ${localAsn}`,
      ` neighbor ${address} timers 3 9`,
      ` neighbor ${address} timers connect 1`,
    ]);
    return [
      `router bgp ${upstreamAsn}`,
      ` bgp router-id ${this.addressOf(1)}`,
      ' no bgp ebgp-requires-policy',
      ' bgp bestpath as-path multipath-relax',
      ...neighbors,
      ' address-family ipv4 unicast',
      '  maximum-paths 2',
    ];
  }

  /** The BGP session's state with a load balancer as FRR sees it: `Established` and such. */
  async sessionState(lbAddress: string): Promise<string> {
    return (await this.frr.neighbor(lbAddress))?.bgpState ?? 'Unknown';
  }

  /** The gateways of its kernel route to exactly the VIP; empty when it has none. */
  async vipGateways(): Promise<string[]> {
    const routes = await this.ipJson<{ gateway?: string; nexthops?: { gateway?: string }[] }[]>(
      ...['route', 'show', `${vipAddress}/32`],
    );
    return routes
      .flatMap(({ gateway, nexthops }) => [gateway, ...(nexthops ?? []).map((hop) => hop.gateway)])
      .filter((gateway) => gateway !== undefined)
      .sort();
  }

  /** Waits until the kernel has a route to the VIP, or has none. */
  async waitForVipRoute(isPresent: boolean, timeoutMs = 10_000): Promise<void> {
    await waitUntil(async () => (await this.vipGateways()).length > 0 === isPresent, {
      what: `upstream router ${isPresent ? 'with' : 'without'} a route to ${vipAddress}`,
      timeoutMs,
      detail: () => this.frr.tail(),
    });
  }
}
