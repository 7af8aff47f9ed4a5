import { createMetrics } from '@bgp-lb/daemon';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type VipStateName, vipStateNames } from './lifecycle/vip-state.ts';

/** What the gauges are read from when somebody scrapes. */
export interface MetricsSource {
  readonly vips: () => readonly {
    readonly vip: string;
    readonly state: VipStateName;
    readonly isBound: boolean;
    readonly advertisement: string;
  }[];
  readonly isReady: () => boolean;
  readonly isBootstrapped: () => boolean;
  readonly routers: () => readonly { readonly address: string; readonly isEstablished: boolean }[];
}

/** Every metric of the speaker, in its own registry. */
export class SpeakerMetrics {
  readonly registry: Registry;
  readonly transitions: Counter<'vip' | 'from' | 'to'>;
  readonly probes: Counter<'result'>;
  readonly probeDuration: Histogram;
  readonly kernelRepairs: Counter<'object'>;
  readonly kernelFailures: Counter;
  readonly ignoredRoutes: Counter<'router'>;
  readonly sessionsLost: Counter<'router' | 'reason'>;

  constructor(source: MetricsSource) {
    this.registry = createMetrics('bgp_lb_').registry;
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
    vipGauges(source, registers);
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
    help: '1 while the VIP is advertised to the routers, in whatever form.',
    labelNames: ['vip'],
    registers,
    collect() {
      for (const { vip, advertisement } of source.vips()) this.set({ vip }, advertisement === 'none' ? 0 : 1);
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
