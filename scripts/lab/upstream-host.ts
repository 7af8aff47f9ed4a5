/** The upstream router: gateway of masters and client, with a static route to the VIP or with FRR speaking BGP. */
import { type AddressFamily, localAsn, upstreamAsn, vipPrefixOf } from './addresses.ts';
import { Frr } from './frr.ts';
import { Host, type HostPlan } from './host.ts';
import type { LbHost } from './lb-host.ts';
import type { Switch } from './switch.ts';
import { waitUntil } from './wait-until.ts';

/** How the upstream router comes by its route to the VIP. */
export type UpstreamKind = 'static' | 'frr';

/** The upstream router. */
export class UpstreamHost extends Host {
  readonly kind: UpstreamKind;
  /** Runs only where the kind is `frr`. */
  readonly frr: Frr;
  readonly #lbs: readonly LbHost[];

  constructor(plan: HostPlan, labSwitch: Switch, kind: UpstreamKind, lbs: readonly LbHost[]) {
    super(plan, labSwitch);
    this.kind = kind;
    this.frr = new Frr(this);
    this.#lbs = lbs;
  }

  override async powerOn(): Promise<void> {
    await super.powerOn();
    if (this.kind === 'frr') await this.startFrr();
    else await this.setStaticRoute();
  }

  /** Routes the VIP of each family to all load balancers. */
  async setStaticRoute(): Promise<void> {
    for (const family of this.families) {
      const hops = this.#lbAddresses(family).flatMap((address) => ['nexthop', 'via', address]);
      await this.exec(['ip', 'route', 'replace', vipPrefixOf(family), ...hops]);
    }
  }

  #lbAddresses(family: AddressFamily): readonly string[] {
    return this.#lbs.map((lb) => lb.uplinkAddressOf(family));
  }

  /** Starts zebra and bgpd, configured for sessions with all load balancers. */
  startFrr(): Promise<void> {
    return this.frr.start(this.#bgpConfig());
  }

  #bgpConfig(): string[] {
    const neighbors = this.families
      .flatMap((family) => this.#lbAddresses(family))
      .flatMap((address) => [
        ` neighbor ${address} remote-as ${localAsn}`,
        ` neighbor ${address} timers 3 9`,
        ` neighbor ${address} timers connect 1`,
      ]);
    return [
      `router bgp ${upstreamAsn}`,
      ` bgp router-id ${this.addressOf(1, 'ipv4')}`,
      ' no bgp ebgp-requires-policy',
      ' bgp bestpath as-path multipath-relax',
      ...neighbors,
      ...this.families.flatMap((family) => [
        ` address-family ${family} unicast`,
        // IPv4 is active by default with every neighbor, IPv6 with none.
        ...(family === 'ipv4' ? [] : this.#lbAddresses(family).map((one) => `  neighbor ${one} activate`)),
        '  maximum-paths 2',
        ' exit-address-family',
      ]),
    ];
  }

  /** The BGP session's state with a load balancer as FRR sees it: `Established` and such. */
  async sessionState(lbAddress: string): Promise<string> {
    return (await this.frr.neighbor(lbAddress))?.bgpState ?? 'Unknown';
  }

  /** The gateways of its kernel route to exactly the VIP; empty when it has none. */
  async vipGateways(family: AddressFamily = this.family): Promise<string[]> {
    const routes = await this.ipJson<{ gateway?: string; nexthops?: { gateway?: string }[] }[]>(
      ...[family === 'ipv4' ? '-4' : '-6', 'route', 'show', vipPrefixOf(family)],
    );
    return routes
      .flatMap(({ gateway, nexthops }) => [gateway, ...(nexthops ?? []).map((hop) => hop.gateway)])
      .filter((gateway) => gateway !== undefined)
      .sort();
  }

  /** Waits until the kernel has a route to the VIP, or has none. */
  async waitForVipRoute(isPresent: boolean, timeoutMs = 10_000): Promise<void> {
    await waitUntil(async () => (await this.vipGateways()).length > 0 === isPresent, {
      what: `upstream router ${isPresent ? 'with' : 'without'} a route to ${vipPrefixOf(this.family)}`,
      timeoutMs,
      detail: () => this.frr.tail(),
    });
  }
}
