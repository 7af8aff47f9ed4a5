/** A load balancer machine: the router daemon and its configuration. */
import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  type AddressFamily,
  hostAddress,
  localAsn,
  subnetRange,
  upstreamAsn,
  upstreamNumber,
  vipOf,
  vipPrefixOf,
} from './addresses.ts';
import { bfdSettings } from './bfd-settings.ts';
import { Daemon } from './daemon.ts';
import { Host, type HostPlan } from './host.ts';
import type { HostProcess } from './host-process.ts';
import { Keepalived } from './keepalived.ts';
import { mergeSettings } from './merge-settings.ts';
import type { JsonObject } from './object-store.ts';
import type { Switch } from './switch.ts';

/** A pool member in `/api/v1/status` of the router. */
export interface MemberStatus {
  readonly name: string;
  readonly nextHop: string;
  readonly state: string;
  readonly inPool: boolean;
  readonly weight: number;
  readonly session: string;
  readonly bfd?: string;
  readonly health: string;
  readonly reason: string;
}

/** `/api/v1/status` of the router, as far as the lab looks at it. */
export interface RouterStatus {
  readonly routerId: string;
  readonly asn: number;
  readonly vips: readonly {
    readonly vip: string;
    readonly endpoint: string;
    readonly ready: boolean;
    readonly status: string;
    readonly members: readonly MemberStatus[];
  }[];
}

/** Packets for the VIP at a load balancer. */
export interface PacketCount {
  readonly received: number;
  readonly forwarded: number;
}

/** What a load balancer is configured with beyond its addresses. */
export interface LbSettings {
  readonly vipPort: number;
  readonly machinePort: number;
  /** The TCP-MD5 password of all sessions with masters; undefined for none. */
  readonly password: string | undefined;
  /** Milliseconds between BFD packets; undefined for no BFD. */
  readonly bfd: number | undefined;
  /** True when the upstream router speaks BGP. */
  readonly hasUpstreamSession: boolean;
  readonly program: string;
  /** With `haproxy` the host runs HAProxy as a service: it lives and dies without the router. */
  readonly dataPlane: 'kernel' | 'haproxy';
  /** The addresses of the other load balancers, on the link that VRRP passes the VIPs on; undefined without VRRP. */
  readonly vrrpPeers: readonly string[] | undefined;
  /** Put over the configuration: keys of router.yaml. */
  readonly router: JsonObject;
}

/** A load balancer. */
export class LbHost extends Host {
  readonly router: Daemon<RouterStatus>;
  readonly keepalived: Keepalived;
  readonly #settings: LbSettings;
  #haproxyService: HostProcess | undefined;

  constructor(plan: HostPlan, labSwitch: Switch, settings: LbSettings) {
    super(plan, labSwitch);
    this.#settings = settings;
    this.keepalived = new Keepalived(this);
    this.router = new Daemon<RouterStatus>(this, { name: 'router', program: settings.program });
  }

  get dataPlane(): LbSettings['dataPlane'] {
    return this.#settings.dataPlane;
  }

  /** Its address in the uplink subnet, where the upstream router sends VIP traffic to. */
  get uplinkAddress(): string {
    return this.uplinkAddressOf(this.family);
  }

  uplinkAddressOf(family: AddressFamily): string {
    return this.addressOf(1, family);
  }

  /** The CA file that the router verifies masters by once it is there. Copy the cluster's ca.crt to it to use it. */
  get caFile(): string {
    return this.path('etc/ca.crt');
  }

  override async powerOn(): Promise<void> {
    await super.powerOn();
    this.writeConfig();
    if (this.#settings.dataPlane === 'haproxy') this.startHaproxy();
    if (this.#settings.vrrpPeers !== undefined) this.keepalived.start();
  }

  /** As its unit does: HAProxy runs from the moment on that there is a configuration, and again whenever it has ended. */
  startHaproxy(): void {
    const { config, master } = this.haproxy;
    const run = `haproxy -W -S ${master},mode,600 -f ${config}`;
    this.#haproxyService = this.spawn('haproxy', [
      'sh',
      '-c',
      `while :; do if [ -e ${config} ]; then ${run}; fi; sleep 0.2; done`,
    ]);
  }

  /** Kills HAProxy, which is started no more. */
  async killHaproxy(): Promise<void> {
    await this.#haproxyService?.kill();
  }

  /** Where HAProxy's files and sockets are. */
  get haproxy(): { readonly config: string; readonly socket: string; readonly master: string } {
    return {
      config: this.path('var/lib/bgp-lb/haproxy/haproxy.cfg'),
      socket: this.path('run/haproxy.sock'),
      master: this.path('run/haproxy-master.sock'),
    };
  }

  /** Writes router.yaml; `over` is put over the lab's own settings. */
  writeConfig(over: JsonObject = {}): void {
    const { password } = this.#settings;
    if (password !== undefined) {
      writeFileSync(this.path('etc/bgp-password'), `${password}\n`, { mode: 0o600 });
    }
    this.router.writeConfig(mergeSettings(mergeSettings(this.#defaults(), this.#settings.router), over));
  }

  /** The neighbors of the lab's own router.yaml: the masters, and the upstream router where it speaks BGP. */
  neighbors(): readonly JsonObject[] {
    const { hasUpstreamSession } = this.#settings;
    return this.families.flatMap((family) => [
      this.#mastersOf(family),
      ...(hasUpstreamSession ? [this.#upstreamOf(family)] : []),
    ]);
  }

  /** The name of the neighbors of a family: the first has the plain one. */
  #nameOf(name: string, family: AddressFamily): string {
    return family === this.family ? name : `${name}-${family}`;
  }

  #vrrp(peers: readonly string[]): JsonObject {
    return { interface: 'eth0', peers: [...peers], ...this.keepalived.places };
  }

  /** `dataplane` of router.yaml for it. */
  get haproxyDataplane(): JsonObject {
    const { config, socket, master } = this.haproxy;
    return { kind: 'haproxy', folder: dirname(config), socket, masterSocket: master };
  }

  #mastersOf(family: AddressFamily): JsonObject {
    const { password, bfd } = this.#settings;
    return {
      name: this.#nameOf('masters', family),
      role: 'master',
      range: subnetRange(family, 'masters'),
      asn: localAsn,
      holdTime: '3s',
      maxSessions: 32,
      ttlSecurityHops: 1,
      passwordFile: password === undefined ? undefined : this.path('etc/bgp-password'),
      bfd: bfd === undefined ? false : bfdSettings(bfd),
    };
  }

  #upstreamOf(family: AddressFamily): JsonObject {
    return {
      name: this.#nameOf('upstream', family),
      role: 'upstream',
      address: hostAddress(family, 'uplink', upstreamNumber),
      asn: upstreamAsn,
      nextHop: 'self',
      holdTime: '9s',
    };
  }

  #defaults(): JsonObject {
    const { vipPort, machinePort } = this.#settings;
    return {
      apiVersion: 'bgp-lb.dev/v1alpha1',
      kind: 'Router',
      asn: localAsn,
      // Said in any case: what the router makes it of where it has no IPv4 is the machine's, and the same for both load balancers.
      routerId: this.addressOf(0, 'ipv4'),
      listen: {
        addresses: this.families.map((family) => (family === 'ipv4' ? '0.0.0.0' : '::')),
        port: 179,
      },
      vips: this.families.map((family) => ({ address: vipOf(family), port: vipPort, machinePort })),
      neighbors: [...this.neighbors()],
      // Tests and benchmarks kill the same masters again and again; those about members that keep leaving turn this on.
      pool: { flapHold: '0s' },
      ...(this.#settings.dataPlane === 'haproxy' && { dataplane: this.haproxyDataplane }),
      ...(this.#settings.vrrpPeers !== undefined && { vrrp: this.#vrrp(this.#settings.vrrpPeers) }),
      healthCheck: { interval: '200ms', timeout: '1s', caFile: this.caFile },
      stateDir: this.path('var/lib/bgp-lb'),
      api: { socket: this.router.socketPath, listen: '127.0.0.1:9474' },
      log: { level: 'debug' },
    };
  }

  /**
   * Counts packets for the IPv4 VIP in a table of the lab's own: what came in from the uplink, and what of it left towards
   * a master. The difference is lost. Call it once after the host was switched on.
   */
  async startPacketCount(): Promise<void> {
    const hook = (name: string, type: string, match: string): string =>
      `chain ${name} { type filter hook ${name} priority ${type}; ${match} ip daddr ${vipOf('ipv4')} counter name ${name}; }`;
    const rules = [
      'counter prerouting { }',
      'counter postrouting { }',
      hook('prerouting', '-500', 'iifname eth1'),
      hook('postrouting', '500', 'iifname eth1 oifname eth0'),
    ];
    await this.exec(['nft', '-f', '-'], { input: `table ip lab_count {\n${rules.join('\n')}\n}\n` });
  }

  /** Packets for the VIP since startPacketCount. */
  async packetCount(): Promise<PacketCount> {
    const text = await this.exec(['nft', '-j', 'list', 'counters', 'table', 'ip', 'lab_count']);
    const { nftables } = JSON.parse(text) as {
      nftables: readonly { counter?: { name: string; packets: number } }[];
    };
    const of = (name: string): number =>
      nftables.find(({ counter }) => counter?.name === name)?.counter?.packets ?? Number.NaN;
    return { received: of('prerouting'), forwarded: of('postrouting') };
  }

  /** The names of the members that are in the pool of the VIP, in order. */
  async pool(): Promise<string[]> {
    return poolOf(await this.router.status(), this.family);
  }

  /** Waits until exactly these addresses are in the pool of the VIP of that family. */
  waitForPool(
    addresses: readonly string[],
    timeoutMs = 10_000,
    family: AddressFamily = this.family,
  ): Promise<RouterStatus> {
    const wanted = [...addresses].sort().join(' ');
    return this.router.waitFor(
      `pool [${wanted}]`,
      (status) => poolOf(status, family).join(' ') === wanted,
      timeoutMs,
    );
  }
}

function poolOf(status: RouterStatus, family: AddressFamily): string[] {
  return status.vips
    .filter(({ vip }) => vip === vipPrefixOf(family))
    .flatMap(({ members }) => members.filter(({ inPool }) => inPool).map(({ nextHop }) => nextHop))
    .sort();
}
