import { createMetrics, type Metrics } from '@bgp-lb/daemon';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { DrainPhase } from '../drain/host-drain.ts';
import type { MemberSourceStatus } from '../membership/source-status.ts';
import type { OnLinkStatus } from '../on-link/on-link-responder.ts';
import type { VrrpStatus } from '../vrrp/vrrp-status.ts';
import { BfdMetrics } from './bfd-metrics.ts';
import { ClientMetrics } from './client-metrics.ts';
import { type CarriedMember, DataPlaneMetrics } from './data-plane-metrics.ts';
import { observeSources } from './source-metrics.ts';
import { observeVrrp } from './vrrp-metrics.ts';

/** Names of the metrics begin so. */
const PREFIX = 'bgp_lb_router_';

/** What is read when there is a request for the metrics. */
export interface MetricSources {
  members(): readonly {
    readonly vip: string;
    readonly name: string;
    readonly state: string;
    readonly weight: number;
    readonly exits: number;
    /** Set while it is held back. */
    readonly heldUntil?: number;
  }[];
  shares(): readonly {
    readonly vip: string;
    readonly member: string;
    readonly share: number;
  }[];
  packets(): readonly {
    readonly vip: string;
    readonly member: string;
    /** `undefined` where the kernel does not count them. */
    readonly packets: number | undefined;
  }[];
  carried(): readonly CarriedMember[];
  forwarding(): readonly { readonly vip: string; readonly forwarding: boolean }[];
  advertised(): readonly { readonly vip: string; readonly upstream: string; readonly advertised: boolean }[];
  drain(): DrainPhase;
  sessions(): readonly { readonly neighbor: string; readonly role: string; readonly state: string }[];
  rejectedConnections(): number;
  memberSources(): readonly MemberSourceStatus[];
  /** Undefined where this host has no part in VRRP. */
  vrrp(): VrrpStatus | undefined;
  onLink(): readonly Pick<OnLinkStatus, 'address' | 'interface' | 'phase' | 'owner' | 'isOwnerPeer'>[];
}

/** The last reload of the configuration; the start counts as one. */
interface LastReload {
  readonly successful: Gauge;
  readonly successTimestamp: Gauge;
}

function lastReloadGauges(registers: Registry[]): LastReload {
  const successful = new Gauge({
    name: `${PREFIX}config_last_reload_successful`,
    help: '1 when the last reload of the configuration was taken, or there was none since the start; 0 when it was refused.',
    registers,
  });
  const successTimestamp = new Gauge({
    name: `${PREFIX}config_last_reload_success_timestamp_seconds`,
    help: 'When the configuration that the router goes by was taken, in seconds since the epoch.',
    registers,
  });
  successful.set(1);
  successTimestamp.setToCurrentTime();
  return { successful, successTimestamp };
}

/** Every metric of the router. Labels are bounded: by the configuration, or by the members that a pool knows. */
export class RouterMetrics {
  readonly metrics: Metrics;
  readonly transitions: Counter<'vip' | 'from' | 'to'>;
  readonly heldBack: Counter<'vip'>;
  readonly reloads: Counter<'result'>;
  readonly lastReload: LastReload;
  readonly rejectedPaths: Counter<'neighbor' | 'reason'>;
  readonly sessionTransitions: Counter<'role' | 'event'>;
  readonly notifications: Counter<'direction' | 'code'>;
  readonly probes: Counter<'vip' | 'result'>;
  readonly probeDuration: Histogram<'vip'>;
  readonly dataPlane: DataPlaneMetrics;
  readonly vrrpTransitions: Counter<'to'>;
  readonly bfd: BfdMetrics;
  readonly clients: ClientMetrics;

  /** @param version of the router */
  constructor(version: string) {
    this.metrics = createMetrics({ program: 'bgp-lb-router', version });
    this.bfd = new BfdMetrics(this.metrics.registry);
    this.clients = new ClientMetrics(this.metrics.registry);
    this.dataPlane = new DataPlaneMetrics(this.metrics.registry, PREFIX);
    const registers = [this.metrics.registry];
    const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> =>
      new Counter<L>({ name: `${PREFIX}${name}`, help, labelNames: [...labelNames], registers });
    this.transitions = counter('member_transitions_total', 'Changes of state of pool members.', [
      'vip',
      'from',
      'to',
    ]);
    this.heldBack = counter(
      'members_held_back_total',
      'How often a good member was held back, since it had left its pool too often.',
      ['vip'],
    );
    this.reloads = counter(
      'reloads_total',
      'Reloads of the configuration: taken, refused, or incomplete, which is taken and not all done.',
      ['result'],
    );
    this.lastReload = lastReloadGauges(registers);
    this.rejectedPaths = counter('rejected_paths_total', 'Announcements that import policy refused.', [
      'neighbor',
      'reason',
    ]);
    this.sessionTransitions = counter(
      'session_transitions_total',
      'BGP sessions that came up or went down.',
      ['role', 'event'],
    );
    this.notifications = counter('notifications_total', 'BGP NOTIFICATION messages.', ['direction', 'code']);
    this.probes = counter('health_probes_total', 'Health probes through members, by result.', [
      'vip',
      'result',
    ]);
    this.probeDuration = new Histogram({
      name: `${PREFIX}health_probe_duration_seconds`,
      help: 'Time of a health probe, from connecting to the last octet.',
      labelNames: ['vip'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    });
    this.vrrpTransitions = counter('vrrp_transitions_total', 'Changes of the VRRP state.', ['to']);
  }

  /**
   * Counts nothing any more of VIPs (`10.100.0.1/32`) and neighbors that are gone: what has stopped for good is not to look like what
   * stands still.
   */
  async forget(gone: {
    readonly vips: readonly string[];
    readonly neighbors: readonly string[];
  }): Promise<void> {
    for (const vip of gone.vips) {
      await removeSeries(this.transitions, 'vip', vip);
      await removeSeries(this.heldBack, 'vip', vip);
      await removeSeries(this.probes, 'vip', vip);
      this.probeDuration.remove({ vip });
      this.clients.forget(vip);
    }
    for (const neighbor of gone.neighbors) await removeSeries(this.rejectedPaths, 'neighbor', neighbor);
  }

  /** Gauges, which ask their sources with each scrape. */
  observe(sources: MetricSources): void {
    observeSources(this.metrics.registry, PREFIX, () => sources.memberSources());
    this.dataPlane.observe(() => sources.carried());
    observeVrrp(this.metrics.registry, PREFIX, () => sources.vrrp());
    this.#gauge(
      'member_weight',
      'Weight of a member in its pool, 0 to 256.',
      ['vip', 'member', 'state'],
      () =>
        sources.members().map(({ vip, name, state, weight }) => ({
          labels: { vip, member: name, state },
          value: weight,
        })),
    );
    this.#gauge(
      'member_recent_exits',
      'How often a member left its pool, or lost its full share, of late; calm takes them back.',
      ['vip', 'member'],
      () =>
        sources.members().map(({ vip, name, exits }) => ({ labels: { vip, member: name }, value: exits })),
    );
    this.#gauge('member_held_back', '1 while a good member is held back for that.', ['vip', 'member'], () =>
      sources.members().map(({ vip, name, heldUntil }) => ({
        labels: { vip, member: name },
        value: heldUntil === undefined ? 0 : 1,
      })),
    );
    this.#gauge('pool_members', 'Members of a pool by state.', ['vip', 'state'], () => countByState(sources));
    this.#gauge(
      'member_bucket_share',
      'Part of new connections that a member gets, 0 to 1: with the kernel, its part of the hash buckets.',
      ['vip', 'member'],
      () => sources.shares().map(({ vip, member, share }) => ({ labels: { vip, member }, value: share })),
    );
    this.#counter(
      'member_packets_total',
      'Packets to a member; the kernel begins at 0 when the group of its VIP changes. Only where it counts them (6.9 and later).',
      ['vip', 'member'],
      () =>
        sources
          .packets()
          .flatMap(({ vip, member, packets }) =>
            packets === undefined ? [] : [{ labels: { vip, member }, value: packets }],
          ),
    );
    this.#gauge('vip_forwarding', '1 while packets to the VIP reach a member.', ['vip'], () =>
      sources.forwarding().map(({ vip, forwarding }) => ({ labels: { vip }, value: forwarding ? 1 : 0 })),
    );
    this.#gauge(
      'vip_advertised',
      '1 while an upstream has the VIP: the Adj-RIB-Out for its Established session holds it.',
      ['vip', 'upstream'],
      () =>
        sources
          .advertised()
          .map(({ vip, upstream, advertised }) => ({ labels: { vip, upstream }, value: advertised ? 1 : 0 })),
    );
    this.#gauge(
      'drain',
      'The drain of this load balancer itself: 1 for the phase that it is in, of none, leaving and withdrawn.',
      ['phase'],
      () => drainPhases.map((phase) => ({ labels: { phase }, value: sources.drain() === phase ? 1 : 0 })),
    );
    this.#gauge(
      'on_link_answering',
      '1 while ARP or neighbor solicitations for a VIP are answered on an interface of dataplane.proxyInterfaces.',
      ['vip', 'interface'],
      () =>
        sources.onLink().map(({ address, interface: name, phase }) => ({
          labels: { vip: address, interface: name },
          value: phase === 'answering' ? 1 : 0,
        })),
    );
    this.#gauge(
      'on_link_foreign_owner',
      '1 while a host that is no load balancer of this kind says that it has a VIP, on an interface of dataplane.proxyInterfaces.',
      ['vip', 'interface'],
      () =>
        sources.onLink().map(({ address, interface: name, owner, isOwnerPeer }) => ({
          labels: { vip: address, interface: name },
          value: owner !== null && !isOwnerPeer ? 1 : 0,
        })),
    );
    this.#gauge('sessions', 'BGP sessions by role and state.', ['role', 'state'], () =>
      countSessions(sources),
    );
    this.#gauge(
      'bgp_session_established',
      '1 while the BGP session with a neighbor is Established. Members of a range are there while they are known.',
      ['neighbor', 'role'],
      () =>
        sources.sessions().map(({ neighbor, role, state }) => ({
          labels: { neighbor, role },
          value: state === 'Established' ? 1 : 0,
        })),
    );
    this.#counter(
      'rejected_connections_total',
      'Connections to the BGP port from nobody that is configured.',
      [],
      () => [{ labels: {}, value: sources.rejectedConnections() }],
    );
  }

  /** A count that is kept elsewhere; one that begins at 0 again is a reset, which `rate()` knows. */
  #counter<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: () => readonly { labels: Partial<Record<L, string>>; value: number }[],
  ): void {
    new Counter<L>({
      name: `${PREFIX}${name}`,
      help,
      labelNames: [...labelNames],
      registers: [this.metrics.registry],
      collect() {
        this.reset();
        for (const { labels, value } of read()) {
          this.inc(labels, value);
        }
      },
    });
  }

  #gauge<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: () => readonly { labels: Partial<Record<L, string>>; value: number }[],
  ): void {
    new Gauge<L>({
      name: `${PREFIX}${name}`,
      help,
      labelNames: [...labelNames],
      registers: [this.metrics.registry],
      collect() {
        this.reset();
        for (const { labels, value } of read()) {
          this.set(labels, value);
        }
      },
    });
  }
}

const drainPhases: readonly DrainPhase[] = ['none', 'leaving', 'withdrawn'];

async function removeSeries<L extends string>(counter: Counter<L>, label: L, value: string): Promise<void> {
  const { values } = await counter.get();
  for (const { labels } of values) {
    if (labels[label] === value) counter.remove(labels);
  }
}

function countByState(sources: MetricSources): { labels: { vip: string; state: string }; value: number }[] {
  const counts = new Map<string, { labels: { vip: string; state: string }; value: number }>();
  for (const { vip } of sources.forwarding()) {
    for (const state of ['active', 'last-resort', 'draining', 'stale', 'out']) {
      counts.set(`${vip} ${state}`, { labels: { vip, state }, value: 0 });
    }
  }
  for (const { vip, state } of sources.members()) {
    const entry = counts.get(`${vip} ${state}`);
    if (entry !== undefined) {
      entry.value++;
    }
  }
  return [...counts.values()];
}

function countSessions(sources: MetricSources): { labels: { role: string; state: string }; value: number }[] {
  const counts = new Map<string, { labels: { role: string; state: string }; value: number }>();
  for (const { role, state } of sources.sessions()) {
    const key = `${role} ${state}`;
    const entry = counts.get(key) ?? { labels: { role, state }, value: 0 };
    entry.value++;
    counts.set(key, entry);
  }
  return [...counts.values()];
}
