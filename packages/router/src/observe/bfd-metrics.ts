import type { BfdSessionCounters, BfdStatus } from '@bgp-lb/protocol/node';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Names of the metrics begin so. */
const PREFIX = 'bgp_lb_router_bfd_';

/** What is read when there is a request for the metrics. */
export interface BfdMetricSources {
  /** `undefined` while the BFD thread is dead. */
  status(): Promise<Pick<BfdStatus, 'sessions'> | undefined>;
  /** Role of the neighbor with a session. */
  roleOf(id: string): string;
}

/** The metrics of BFD. Labels are roles, states and verdicts: nothing that a neighbor chooses. */
export class BfdMetrics {
  readonly transitions: Counter<'role' | 'to'>;
  /** By what the router made of it: a host, a process, or nothing died. */
  readonly failures: Counter<'role' | 'died'>;
  readonly #registers: Registry[];
  #packets: Counter<'direction'> | undefined;
  #averted: Counter<string> | undefined;
  /** What was counted of each session at the last scrape: a session that ends takes its counters with it. */
  #seen = new Map<string, BfdSessionCounters>();

  constructor(registry: Registry) {
    this.#registers = [registry];
    const registers = this.#registers;
    this.transitions = new Counter({
      name: `${PREFIX}transitions_total`,
      help: 'Changes of state of BFD sessions.',
      labelNames: ['role', 'to'],
      registers,
    });
    this.failures = new Counter({
      name: `${PREFIX}failures_total`,
      help: 'BFD sessions that left Up by a failure, by what had died.',
      labelNames: ['role', 'died'],
      registers,
    });
  }

  /** Sessions by state, and their packets, which ask their source with each scrape. */
  observe(sources: BfdMetricSources): void {
    const registers = this.#registers;
    // Each waits for the source itself: prom-client renders all metrics at the same time.
    const counted = async (): Promise<void> => this.#count(await sources.status());
    this.#packets = new Counter({
      name: `${PREFIX}packets_total`,
      help: 'BFD packets, as of the last scrape.',
      labelNames: ['direction'],
      registers,
      collect: counted,
    });
    this.#averted = new Counter({
      name: `${PREFIX}averted_total`,
      help: 'Detection Times that had run out only because this process was late.',
      registers,
      collect: counted,
    });
    new Gauge({
      name: `${PREFIX}sessions`,
      help: 'BFD sessions by role of the neighbor and state.',
      labelNames: ['role', 'state'],
      registers,
      async collect() {
        const status = await sources.status();
        this.reset();
        for (const { id, state } of status?.sessions ?? []) {
          this.inc({ role: sources.roleOf(id), state });
        }
      },
    });
  }

  #count(status: Pick<BfdStatus, 'sessions'> | undefined): void {
    const now = new Map(status?.sessions.map(({ id, counters }) => [id, counters]));
    for (const [id, counters] of now) {
      const before = this.#seen.get(id);
      const since = (key: 'sent' | 'received' | 'averted'): number => {
        const was = before?.[key] ?? 0;
        // Less than before: it is a new session of the same neighbor.
        return counters[key] >= was ? counters[key] - was : counters[key];
      };
      this.#packets?.inc({ direction: 'sent' }, since('sent'));
      this.#packets?.inc({ direction: 'received' }, since('received'));
      this.#averted?.inc(since('averted'));
    }
    this.#seen = now;
  }
}
