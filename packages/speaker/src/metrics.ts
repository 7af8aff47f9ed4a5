import { createMetrics } from '@bgp-lb/daemon';
import type { BfdState } from '@bgp-lb/protocol';
import type { BfdStatus } from '@bgp-lb/protocol/node';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type VipStateName, vipStateNames } from './lifecycle/vip-state.ts';

/** What the gauges are read from when there is a scrape. */
export interface MetricsSource {
  readonly vips: () => readonly {
    readonly vip: string;
    readonly state: VipStateName;
    readonly isBound: boolean;
    /** Links that another program has put it on. */
    readonly elsewhere: number;
  }[];
  readonly isReady: () => boolean;
  readonly isBootstrapped: () => boolean;
  readonly isDrained: () => boolean;
  readonly routers: () => readonly {
    readonly address: string;
    readonly isEstablished: boolean;
    /** Prefixes that the router has of us. */
    readonly advertised: readonly string[];
    readonly bfd: BfdState | 'off';
  }[];
  /** Asks the BFD thread; `undefined` without one. */
  readonly bfd: () => Promise<BfdStatus | undefined>;
}

/** Every metric of the speaker, in its own registry. */
export class SpeakerMetrics {
  readonly registry: Registry;
  /** See `Metrics` of @bgp-lb/daemon. */
  readonly noteLag: (milliseconds: number) => void;
  readonly transitions: Counter<'vip' | 'from' | 'to'>;
  readonly probes: Counter<'result'>;
  readonly probeDuration: Histogram;
  readonly kernelRepairs: Counter<'object'>;
  readonly kernelFailures: Counter;
  readonly ignoredRoutes: Counter<'router'>;
  readonly sessionsLost: Counter<'router' | 'reason'>;
  readonly connectionsReset: Counter<'vip'>;
  readonly bfdTransitions: Counter<'router' | 'to'>;
  readonly bfdFailures: Counter<'router' | 'verdict'>;

  /** @param version of the speaker */
  constructor(source: MetricsSource, version: string) {
    const { registry, noteLag } = createMetrics({ program: 'bgp-lb-speaker', version });
    this.registry = registry;
    this.noteLag = noteLag;
    const registers = [this.registry];
    this.transitions = new Counter({
      name: 'bgp_lb_speaker_vip_transitions_total',
      help: 'Changes of the state of a VIP on this master.',
      labelNames: ['vip', 'from', 'to'],
      registers,
    });
    this.probes = new Counter({
      name: 'bgp_lb_speaker_apiserver_probes_total',
      help: 'Readiness probes of the API server of this master, by what they found.',
      labelNames: ['result'],
      registers,
    });
    this.probeDuration = new Histogram({
      name: 'bgp_lb_speaker_apiserver_probe_duration_seconds',
      help: 'Time from the start of a readiness probe to the end of its answer.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    });
    this.kernelRepairs = new Counter({
      name: 'bgp_lb_speaker_kernel_repairs_total',
      help: 'Kernel objects of the speaker that somebody else removed or changed, and that were put right.',
      labelNames: ['object'],
      registers,
    });
    this.kernelFailures = new Counter({
      name: 'bgp_lb_speaker_kernel_failures_total',
      help: 'Attempts to bring the kernel to the wanted state that the kernel refused.',
      registers,
    });
    this.ignoredRoutes = new Counter({
      name: 'bgp_lb_speaker_routes_ignored_total',
      help: 'Routes received from routers. A speaker uses none.',
      labelNames: ['router'],
      registers,
    });
    this.sessionsLost = new Counter({
      name: 'bgp_lb_speaker_bgp_sessions_lost_total',
      help: 'Established BGP sessions that ended, by how.',
      labelNames: ['router', 'reason'],
      registers,
    });
    this.connectionsReset = new Counter({
      name: 'bgp_lb_speaker_connections_reset_total',
      help: "Clients' connections that were left when a VIP left this master, and were reset.",
      labelNames: ['vip'],
      registers,
    });
    this.bfdTransitions = new Counter({
      name: 'bgp_lb_speaker_bfd_transitions_total',
      help: 'Changes of the state of BFD sessions.',
      labelNames: ['router', 'to'],
      registers,
    });
    this.bfdFailures = new Counter({
      name: 'bgp_lb_speaker_bfd_failures_total',
      help: 'BFD sessions that failed, by what that was taken for. `death` ended a BGP session.',
      labelNames: ['router', 'verdict'],
      registers,
    });
    bfdMetrics(source, registers);
    vipGauges(source, registers);
    elsewhereGauge(source, registers);
    stateGauges(source, registers);
  }
}

function vipGauges(source: MetricsSource, registers: Registry[]): void {
  new Gauge({
    name: 'bgp_lb_speaker_vip_state',
    help: '1 for the state that a VIP has on this master, 0 for the others.',
    labelNames: ['vip', 'state'],
    registers,
    collect() {
      for (const { vip, state } of source.vips()) {
        for (const name of vipStateNames) this.set({ vip, state: name }, name === state ? 1 : 0);
      }
    },
  });
  new Gauge({
    name: 'bgp_lb_speaker_vip_bound',
    help: '1 while the VIP is wanted on this host.',
    labelNames: ['vip'],
    registers,
    collect() {
      for (const { vip, isBound } of source.vips()) this.set({ vip }, isBound ? 1 : 0);
    },
  });
  new Gauge({
    name: 'bgp_lb_speaker_vip_advertised',
    help: '1 while a router has the VIP: the Adj-RIB-Out for its Established session holds it.',
    labelNames: ['vip', 'router'],
    registers,
    collect() {
      this.reset();
      for (const { vip } of source.vips()) {
        for (const { address, advertised } of source.routers()) {
          this.set({ vip, router: address }, advertised.includes(vip) ? 1 : 0);
        }
      }
    },
  });
}

function elsewhereGauge(source: MetricsSource, registers: Registry[]): void {
  new Gauge({
    name: 'bgp_lb_speaker_vip_elsewhere',
    help: 'Links other than lo that have the VIP on this host. Somebody else put it there: 0 is right.',
    labelNames: ['vip'],
    registers,
    collect() {
      for (const { vip, elsewhere } of source.vips()) this.set({ vip }, elsewhere);
    },
  });
}

function stateGauges(source: MetricsSource, registers: Registry[]): void {
  new Gauge({
    name: 'bgp_lb_speaker_apiserver_ready',
    help: '1 while the API server of this master is ready.',
    registers,
    collect() {
      this.set(source.isReady() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'bgp_lb_speaker_bootstrap_proven',
    help: '1 while the bootstrap of this master is proven.',
    registers,
    collect() {
      this.set(source.isBootstrapped() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'bgp_lb_speaker_drain',
    help: '1 while something asks for a drain of this master, or it is drained.',
    registers,
    collect() {
      this.set(source.isDrained() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'bgp_lb_speaker_bgp_session_established',
    help: '1 while the BGP session with the router is Established.',
    labelNames: ['router'],
    registers,
    collect() {
      for (const { address, isEstablished } of source.routers())
        this.set({ router: address }, isEstablished ? 1 : 0);
    },
  });
}

function bfdMetrics(source: MetricsSource, registers: Registry[]): void {
  new Gauge({
    name: 'bgp_lb_speaker_bfd_session_up',
    help: '1 while the BFD session with the router is Up. Routers without BFD are not there.',
    labelNames: ['router'],
    registers,
    collect() {
      for (const { address, bfd } of source.routers()) {
        if (bfd !== 'off') this.set({ router: address }, bfd === 'Up' ? 1 : 0);
      }
    },
  });
  new Gauge({
    name: 'bgp_lb_speaker_bfd_detection_time_seconds',
    help: 'Silence after which the router is taken for dead. Absent while the router is silent.',
    labelNames: ['router'],
    registers,
    async collect() {
      this.reset();
      for (const { id, detectionTime } of (await source.bfd())?.sessions ?? []) {
        if (detectionTime !== undefined) this.set({ router: id }, detectionTime / 1000);
      }
    },
  });
  new Counter({
    name: 'bgp_lb_speaker_bfd_averted_total',
    help: 'Detection times that ran out only because this host was late: the packets were there. Since the BFD thread started.',
    labelNames: ['router'],
    registers,
    async collect() {
      const status = await source.bfd();
      this.reset();
      for (const { id, counters } of status?.sessions ?? []) this.inc({ router: id }, counters.averted);
    },
  });
}
