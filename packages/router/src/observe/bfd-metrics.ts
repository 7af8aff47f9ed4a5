import type { BfdSessionCounters, BfdStatus } from '@bgp-lb/protocol/node';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Names of the metrics begin so. */
const PREFIX = 'bgp_lb_router_bfd_';

/** What is read when somebody asks for the metrics. */
export interface BfdMetricSources {
  /** `undefined` while the BFD thread is dead. */
  status(): Promise<Pick<BfdStatus, 'sessions'> | undefined>;
  /** Role of the neighbour with a session. */
  roleOf(id: string): string;
}

/** The metrics of BFD. Labels are roles, states and verdicts: nothing that a neighbour chooses. */
export class BfdMetrics {
  readonly transitions: Counter<'role' | 'to'>;
  /** By what the router made of it: a host, a process, or nothing died. */
  readonly failures: Counter<'role' | 'died'>;
  readonly #registers: Registry[];
  readonly #packets: Counter<'direction'>;
  readonly #averted: Counter<string>;
  /** What was counted of each session at the last scrape: a session that ends takes its counters with it. */
  #seen = new Map<string, BfdSessionCounters>();

  constructor(registry: Registry) {
    this.#registers = [registry];
    const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> =>
      new Counter<L>({
        name: `${PREFIX}${name}`,
        help,
        labelNames: [...labelNames],
        registers: this.#registers,
      });
    this.transitions = counter('transitions_total', 'Changes of state of BFD sessions.', ['role', 'to']);
    this.failures = counter('failures_total', 'BFD sessions that left Up by a failure, by what had died.', [
      'role',
      'died',
    ]);
    this.#packets = counter('packets_total', 'BFD packets, as of the last scrape.', ['direction']);
    this.#averted = counter(
      'averted_total',
      'Detection Times that had run out only because this process was late.',
      [],
    );
  }

  /** Sessions by state, and the packets, which ask their source with each scrape. */
  observe(sources: BfdMetricSources): void {
    const count = (status: Pick<BfdStatus, 'sessions'> | undefined): void => this.#count(status);
    new Gauge({
      name: `${PREFIX}sessions`,
      help: 'BFD sessions by role of the neighbour and state.',
      labelNames: ['role', 'state'],
      registers: this.#registers,
      async collect() {
        const status = await sources.status();
        count(status);
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
        // Less than before: it is a new session of the same neighbour.
        return counters[key] >= was ? counters[key] - was : counters[key];
      };
      this.#packets.inc({ direction: 'sent' }, since('sent'));
      this.#packets.inc({ direction: 'received' }, since('received'));
      this.#averted.inc(since('averted'));
    }
    this.#seen = now;
  }
}
