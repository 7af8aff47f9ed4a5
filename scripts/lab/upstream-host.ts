/** The upstream router: gateway of masters and client, with a static route to the VIP or with FRR speaking BGP. */
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { localAsn, upstreamAsn, vipAddress } from './addresses.ts';
import { Host, type HostPlan } from './host.ts';
import type { HostProcess } from './host-process.ts';
import { runCommand } from './run-command.ts';
import type { Switch } from './switch.ts';
import { waitUntil } from './wait-until.ts';

const frrFolder = '/usr/lib/frr';

/** True when FRR is installed. */
export function hasFrr(): boolean {
  return existsSync(`${frrFolder}/bgpd`) && existsSync(`${frrFolder}/zebra`);
}

/** How the upstream router comes by its route to the VIP. */
export type UpstreamKind = 'static' | 'frr';

/** A BGP neighbour as FRR's `show bgp neighbors json` has it, as far as the lab looks at it. */
interface FrrNeighbor {
  readonly bgpState: string;
}

/** The upstream router. */
export class UpstreamHost extends Host {
  readonly kind: UpstreamKind;
  readonly #lbAddresses: readonly string[];
  #daemons: HostProcess[] = [];

  constructor(plan: HostPlan, labSwitch: Switch, kind: UpstreamKind, lbAddresses: readonly string[]) {
    super(plan, labSwitch);
    this.kind = kind;
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

  /** Starts zebra and bgpd with files and sockets in this host's folder. */
  async startFrr(): Promise<void> {
    const folder = this.path('frr');
    mkdirSync(folder, { recursive: true });
    const [user = 0, group = 0] = await Promise.all(['-u', '-g'].map(idOfFrr));
    chownSync(folder, user, group);
    const write = (name: string, text: string): string => {
      const file = `${folder}/${name}`;
      writeFileSync(file, text, { mode: 0o640 });
      chownSync(file, user, group);
      return file;
    };
    const zebraConfig = write('zebra.conf', `hostname ${this.name}\n`);
    const bgpConfig = write('bgpd.conf', this.#bgpConfig());
    // Sockets of daemons that were killed would look like running ones.
    for (const name of ['zserv.api', 'zebra.vty', 'bgpd.vty']) rmSync(`${folder}/${name}`, { force: true });
    const zebra = this.#startDaemon('zebra', zebraConfig);
    await zebra.ready(() => existsSync(`${folder}/zserv.api`) && existsSync(`${folder}/zebra.vty`));
    const bgpd = this.#startDaemon('bgpd', bgpConfig);
    await bgpd.ready(() => existsSync(`${folder}/bgpd.vty`));
    this.#daemons = [bgpd, zebra];
  }

  /** SIGTERM to bgpd and zebra; bgpd sends a NOTIFICATION. */
  async stopFrr(): Promise<void> {
    for (const daemon of this.#daemons) await daemon.stop();
    this.#daemons = [];
  }

  #startDaemon(name: string, configFile: string): HostProcess {
    const folder = this.path('frr');
    return this.spawn(name, [
      `${frrFolder}/${name}`,
      ...['-f', configFile, '-i', `${folder}/${name}.pid`, '-z', `${folder}/zserv.api`],
      ...['--vty_socket', folder, '-P', '0', '-u', 'frr', '-g', 'frr', '--log', 'stdout'],
    ]);
  }

  #bgpConfig(): string {
    const neighbors = this.#lbAddresses.flatMap((address) => [
      ` neighbor ${address} remote-as ${localAsn}`,
      ` neighbor ${address} timers 3 9`,
      ` neighbor ${address} timers connect 1`,
    ]);
    return `${[
      `hostname ${this.name}`,
      `router bgp ${upstreamAsn}`,
      ` bgp router-id ${this.addressOf(1)}`,
      ' no bgp ebgp-requires-policy',
      ' bgp bestpath as-path multipath-relax',
      ...neighbors,
      ' address-family ipv4 unicast',
      '  maximum-paths 2',
    ].join('\n')}\n`;
  }

  /** Runs a `show ... json` command of FRR. The caller names the shape of what FRR gives. */
  async vtysh<T>(command: string): Promise<T> {
    return JSON.parse(await this.exec(['vtysh', '--vty_socket', this.path('frr'), '-c', command])) as T;
  }

  /** The BGP session's state with a load balancer as FRR sees it: `Established` and such. */
  async sessionState(lbAddress: string): Promise<string> {
    const answer = await this.vtysh<Record<string, FrrNeighbor>>(`show bgp neighbors ${lbAddress} json`);
    return answer[lbAddress]?.bgpState ?? 'Unknown';
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
      detail: () => this.processes.map((process) => process.tail()).join('\n'),
    });
  }
}

async function idOfFrr(flag: string): Promise<number> {
  return Number((await runCommand(['id', flag, 'frr'])).trim());
}
