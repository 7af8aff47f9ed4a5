import { createMetrics } from '@bgp-lb/daemon';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Metrics of the controller. */
export class ControllerMetrics {
  readonly registry: Registry;
  readonly reconcileSeconds: Histogram;
  readonly writes: Counter<'what'>;
  readonly errors: Counter<'what'>;
  readonly leader: Gauge;

  constructor(version: string, depth: () => number) {
    this.registry = createMetrics({ program: 'bgp-lb-controller', version }).registry;
    const registers = [this.registry];
    this.reconcileSeconds = new Histogram({
      name: 'bgp_lb_controller_reconcile_seconds',
      help: 'Time to bring one MachineLoadBalancer to what is wanted, writes included.',
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
      registers,
    });
    this.writes = new Counter({
      name: 'bgp_lb_controller_writes_total',
      help: 'Writes that the API server took, by what was written.',
      labelNames: ['what'],
      registers,
    });
    this.errors = new Counter({
      name: 'bgp_lb_controller_errors_total',
      help: 'What failed, and is tried again: reconcile, watch, lease, event.',
      labelNames: ['what'],
      registers,
    });
    this.leader = new Gauge({
      name: 'bgp_lb_controller_leader',
      help: '1 while this replica holds the lease.',
      registers,
    });
    new Gauge({
      name: 'bgp_lb_controller_queue_depth',
      help: 'Objects that wait to be worked on.',
      registers,
      collect() {
        this.set(depth());
      },
    });
  }
}
