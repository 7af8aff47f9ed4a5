import { ipVersion } from '@bgp-lb/protocol';
import type { Difference } from '../data-plane.ts';
import { type ClientPathProblem, clientPathProblems } from './client-paths.ts';
import { FirewallWatch } from './firewall-watch.ts';
import type { KernelDataPlaneOptions, KernelVip } from './kernel-data-plane-options.ts';
import type { KernelHost } from './kernel-host.ts';
import { vipConflicts } from './vip-conflicts.ts';

export interface ConflictWatchOptions
  extends Pick<KernelDataPlaneOptions, 'protocol' | 'table' | 'upstreams' | 'proxyInterfaces'> {
  readonly host: Pick<KernelHost, 'socket' | 'firewall' | 'evidence' | 'clock'>;
  readonly carried: () => readonly KernelVip[];
  /** Next hops that a VIP is forwarded to. */
  readonly forwarding: (prefix: string) => readonly string[];
  /** Names of the interfaces towards next hops. */
  readonly interfacesTo: (nextHops: readonly string[]) => readonly string[];
  /** What keeps all clients of a VIP from its members has changed, in words; undefined when nothing does any more. */
  readonly changed: (vip: string, obstacle: string | undefined) => void;
}

/** So many SYNs by an interface show that clients come by it: one or two are a scan. */
const LEAST_ARRIVED = 8;

/** What others have put in the way of packets to a VIP, which is not ours to remove. */
export class ConflictWatch {
  readonly #options: ConflictWatchOptions;
  readonly #firewall: FirewallWatch;
  #obstacles = new Map<string, string>();
  #problems: readonly string[] = [];
  #warnings: readonly string[] = [];

  constructor(options: ConflictWatchOptions) {
    this.#options = options;
    const { firewall: read, clock } = options.host;
    this.#firewall = new FirewallWatch({ read, clock, looked: () => this.look() });
  }

  /** What keeps clients from being served, one sentence each. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** What would, were there clients by that way, and what of the firewall is not known; one sentence each. */
  get warnings(): readonly string[] {
    return [...this.#warnings, ...this.#firewall.warnings];
  }

  /** Why no client of the VIP gets to a member. */
  obstacle(vip: string): string | undefined {
    return this.#obstacles.get(vip);
  }

  /** Reads the firewall again, and looks. */
  lookAtAll(): Promise<void> {
    return this.#firewall.look();
  }

  /** What others filter has changed, or may have. */
  firewallChanged(): void {
    this.#firewall.schedule();
  }

  async close(): Promise<void> {
    await this.#firewall.close();
    this.#options.host.evidence.close();
  }

  look(): void {
    const found = this.#find();
    const { host, table, carried, forwarding } = this.#options;
    const own = vipConflicts(host.socket, carried(), (prefix) => forwarding(prefix).length > 0, table);
    this.#problems = [...own, ...texts(found.filter(({ clients }) => clients !== 'unknown'))];
    this.#warnings = texts(found.filter(({ clients }) => clients === 'unknown'));
    const before = this.#obstacles;
    const all = found.filter(({ clients }) => clients === 'all');
    this.#obstacles = new Map([...all].reverse().map(({ vip, text }) => [vip, text]));
    for (const vip of new Set([...before.keys(), ...this.#obstacles.keys()])) {
      if (before.has(vip) !== this.#obstacles.has(vip)) this.#options.changed(vip, this.#obstacles.get(vip));
    }
  }

  /** The problems, for a comparison of the kernel with what is wanted. */
  differences(): readonly Difference[] {
    return this.#find()
      .filter(({ clients }) => clients !== 'unknown')
      .map(({ vip, text }) => ({ vip, object: 'route', difference: text }));
  }

  #find(): readonly ClientPathProblem[] {
    const { host, protocol, carried, forwarding, interfacesTo } = this.#options;
    const vips = carried().filter(({ prefix }) => forwarding(prefix).length > 0);
    if (vips.length === 0) return [];
    const { upstreams, proxyInterfaces = [] } = this.#options;
    return clientPathProblems({
      ...{ socket: host.socket, vips, protocol, firewall: this.#firewall.chains },
      uplinks: {
        ...{ upstreams: upstreams(), proxyInterfaces },
        arrivals: (version) => this.#arrivals(version),
      },
      ways: ({ prefix }) => interfacesTo(forwarding(prefix)),
    });
  }

  #arrivals(version: 4 | 6): ReadonlySet<string> {
    try {
      const enough = this.#options.host.evidence
        .arrived()
        .filter(({ vip, packets }) => ipVersion(vip) === version && packets >= LEAST_ARRIVED);
      return new Set(enough.flatMap(({ uplink }) => uplink ?? []));
    } catch {
      // That they cannot be read is said where they are judged.
      return new Set();
    }
  }
}

function texts(problems: readonly ClientPathProblem[]): readonly string[] {
  return problems.map(({ text }) => text);
}
