import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** How a data plane carries one member, as far as it says. */
export interface CarriedMember {
  readonly vip: string;
  /** Its next hop. */
  readonly member: string;
  /** Clients' connections at the moment. */
  readonly connections: number | undefined;
  /** Whether it passes the check that the data plane makes by itself. */
  readonly passes: boolean | undefined;
}

/** What is asked of the data plane, and what it finds: of the kernel, or of HAProxy. */
export class DataPlaneMetrics {
  readonly operations: Counter<'operation' | 'result'>;
  readonly operationDuration: Histogram<'operation'>;
  readonly repairs: Counter;
  readonly asWanted: Gauge;
  readonly #registers: Registry[];
  readonly #prefix: string;

  constructor(registry: Registry, prefix: string) {
    const registers = [registry];
    this.#registers = registers;
    this.#prefix = prefix;
    this.operations = new Counter({
      name: `${prefix}data_plane_operations_total`,
      help: 'Requests to the data plane, by result: netlink messages to the kernel; commands to HAProxy, and its reloads.',
      labelNames: ['operation', 'result'],
      registers,
    });
    this.operationDuration = new Histogram({
      name: `${prefix}data_plane_operation_duration_seconds`,
      help: 'Time of a request to the data plane, answer included.',
      labelNames: ['operation'],
      // The kernel answers within microseconds, HAProxy within a millisecond; a reload takes a second.
      buckets: [0.000_01, 0.000_05, 0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.25, 1, 5],
      registers,
    });
    this.repairs = new Counter({
      name: `${prefix}repairs_total`,
      help: 'Objects that others had changed and that were put right.',
      registers,
    });
    this.asWanted = new Gauge({
      name: `${prefix}data_plane_as_wanted`,
      help: '1 while the data plane is as the router wants it, 0 while it refuses something or does not answer.',
      registers,
    });
    this.asWanted.set(1);
  }

  /** Gauges of the members, which ask with each scrape. */
  observe(read: () => readonly CarriedMember[]): void {
    this.#gauge(
      'member_connections',
      'Connections of clients to a member at the moment. Only with HAProxy.',
      read,
      ({ connections }) => connections,
    );
    this.#gauge(
      'member_check_up',
      '1 while a member passes the check that the data plane makes by itself, 0 while it does not. Only with HAProxy.',
      read,
      ({ passes }) => (passes === undefined ? undefined : Number(passes)),
    );
  }

  #gauge(
    name: string,
    help: string,
    read: () => readonly CarriedMember[],
    value: (member: CarriedMember) => number | undefined,
  ): void {
    new Gauge({
      name: `${this.#prefix}${name}`,
      help,
      labelNames: ['vip', 'member'],
      registers: this.#registers,
      collect() {
        this.reset();
        for (const one of read()) {
          const known = value(one);
          if (known !== undefined) this.set({ vip: one.vip, member: one.member }, known);
        }
      },
    });
  }
}
