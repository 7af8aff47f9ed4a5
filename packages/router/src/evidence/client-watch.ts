import type { Clock } from '@bgp-lb/protocol/node';
import type { ClientCounts } from './client-counts.ts';
import { ClientJudge, type VipEvidence } from './client-judge.ts';
import { LOOK } from './doubted-members.ts';

/** SYNs and connections of clients that are new since the last look. */
export type ClientNews = ReturnType<ClientJudge['judge']>['news'];

export interface ClientWatchOptions {
  readonly clock: Clock;
  /** What was counted until now. May throw. */
  readonly read: () => ClientCounts;
  /** Nothing is read from now on. */
  readonly close: () => void;
  /** The VIPs that are carried, `10.100.0.1/32`. */
  readonly vips: () => Iterable<string>;
  /** Next hops that a VIP is forwarded to. */
  readonly forwarding: (vip: string) => readonly string[];
  /** The part of a VIP's members (0 to 1) that is never doubted. */
  readonly panicThreshold: () => number;
  /** The members of a VIP that are doubted have changed: why, by next hop. */
  readonly doubts: (vip: string, doubts: ReadonlyMap<string, string>) => void;
  /** What becomes of a VIP's clients has changed. Not for too few of them to tell. */
  readonly changed: (vip: string, evidence: VipEvidence) => void;
  /** What was counted since the last look. */
  readonly counted: (vip: string, news: ClientNews) => void;
  /** The counters could not be read, in words; not the same twice in a row. */
  readonly failed: (problem: string) => void;
}

interface Watched {
  readonly judge: ClientJudge;
  evidence: VipEvidence | undefined;
  /** What was told last. */
  told: string;
  doubts: string;
}

/** Looks at what clients send, again and again. */
export class ClientWatch {
  readonly #options: ClientWatchOptions;
  readonly #vips = new Map<string, Watched>();
  #cancel: (() => void) | undefined;
  #problem = '';

  constructor(options: ClientWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#arm();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#options.close();
  }

  /** What clients' own packets said of a VIP when they were last looked at. */
  of(vip: string): VipEvidence | undefined {
    return this.#vips.get(vip)?.evidence;
  }

  /** The next hops that a VIP is forwarded to have changed. */
  forwarding(vip: string, nextHops: readonly string[]): void {
    this.#vips.get(vip)?.judge.forwarding(nextHops, this.#options.clock.now());
  }

  #arm(): void {
    this.#cancel = this.#options.clock.after(LOOK, () => {
      this.#arm();
      this.#look();
    });
  }

  #look(): void {
    const vips = new Set(this.#options.vips());
    for (const vip of this.#vips.keys()) if (!vips.has(vip)) this.#vips.delete(vip);
    const counts = vips.size === 0 ? undefined : this.#read();
    if (counts === undefined) return;
    for (const vip of vips) this.#judge(vip, counts);
  }

  #read(): ClientCounts | undefined {
    try {
      const counts = this.#options.read();
      this.#problem = '';
      return counts;
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (problem !== this.#problem) this.#options.failed(problem);
      this.#problem = problem;
      return undefined;
    }
  }

  #watch(vip: string, now: number): Watched {
    const watched: Watched = { judge: new ClientJudge(now), evidence: undefined, told: 'silent', doubts: '' };
    watched.judge.forwarding(this.#options.forwarding(vip), now);
    this.#vips.set(vip, watched);
    return watched;
  }

  #judge(vip: string, counts: ClientCounts): void {
    const { clock, forwarding, panicThreshold, doubts, changed, counted } = this.#options;
    const now = clock.now();
    const watched = this.#vips.get(vip) ?? this.#watch(vip, now);
    const { judge } = watched;
    const { news, ...evidence } = judge.judge(only(counts, vip), forwarding(vip), panicThreshold(), now);
    watched.evidence = evidence;
    counted(vip, news);
    const { cause } = evidence;
    if (cause !== watched.told && cause !== 'too-few' && cause !== 'silent') {
      watched.told = cause;
      changed(vip, evidence);
    }
    const names = [...judge.doubts.keys()].join();
    if (names !== watched.doubts) {
      watched.doubts = names;
      doubts(vip, judge.doubts);
    }
  }
}

/** What is about one VIP. */
function only({ arrived, sent, followed, established }: ClientCounts, vip: string): ClientCounts {
  const address = vip.split('/')[0];
  const isOf = (count: { readonly vip: string }): boolean => count.vip === address;
  return {
    arrived: arrived.filter(isOf),
    sent: sent.filter(isOf),
    followed: followed.filter(isOf),
    established: established.filter(isOf),
  };
}
