import { Counter, Gauge, type Registry } from 'prom-client';
import { type ClientCause, isDoubtful } from '../evidence/client-judge.ts';
import type { ClientNews } from '../evidence/client-watch.ts';

/** Names of the metrics begin so. */
const PREFIX = 'bgp_lb_router_client_';

/** What clients' own packets say. Labels are VIPs and words of ours. */
export class ClientMetrics {
  readonly #syns: Counter<'vip' | 'stage'>;
  readonly #connections: Counter<'vip' | 'stage'>;
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    this.#registers = [registry];
    const registers = this.#registers;
    this.#syns = new Counter({
      name: `${PREFIX}syns_total`,
      help: 'SYNs of clients to a VIP that arrived at this host, and that left it towards a member.',
      labelNames: ['vip', 'stage'],
      registers,
    });
    this.#connections = new Counter({
      name: `${PREFIX}connections_total`,
      help: 'Connections of clients that were followed from their SYN on, and those of them whose client answered the SYN-ACK of the member. Of very many a part is followed.',
      labelNames: ['vip', 'stage'],
      registers,
    });
  }

  counted(vip: string, { arrived, sent, followed, established }: ClientNews): void {
    this.#syns.inc({ vip, stage: 'arrived' }, arrived);
    this.#syns.inc({ vip, stage: 'forwarded' }, sent);
    this.#connections.inc({ vip, stage: 'followed' }, followed);
    this.#connections.inc({ vip, stage: 'established' }, established);
  }

  /** Nothing more of a VIP that is gone. */
  forget(vip: string): void {
    for (const stage of ['arrived', 'forwarded']) this.#syns.remove({ vip, stage });
    for (const stage of ['followed', 'established']) this.#connections.remove({ vip, stage });
  }

  /** @param causeOf what becomes of the clients of a VIP; undefined before that was looked at */
  observe(vips: () => Iterable<string>, causeOf: (vip: string) => ClientCause | undefined): void {
    new Gauge<'vip'>({
      name: `${PREFIX}doubtful`,
      help: '1 while clients of the VIP are not served, as their own packets say: dropped on this host, or unanswered by all members.',
      labelNames: ['vip'],
      registers: this.#registers,
      collect() {
        this.reset();
        for (const vip of vips()) this.set({ vip }, isDoubtful(causeOf(vip) ?? 'silent') ? 1 : 0);
      },
    });
  }
}
