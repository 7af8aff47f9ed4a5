import type { ClientCounts } from '../client-counts.ts';
import { ClientJudge, type VipEvidence } from '../client-judge.ts';

/** What happened of one kind: connections sent to a member, and how many of them were established. */
export type Sent = Readonly<Record<string, readonly [followed: number, established: number]>>;

/** Clients of one VIP behind a judge, with a clock of their own. */
export class SimulatedClients {
  now = 1_000_000;
  members: readonly string[];
  readonly #judge = new ClientJudge(1_000_000);
  readonly #panicThreshold: number;
  #arrived = new Map<string, number>();
  #syns = new Map<string, number>();
  #followed = new Map<string, number>();
  #established = new Map<string, number>();

  constructor(members: readonly string[], panicThreshold = 0.5) {
    this.members = members;
    this.#panicThreshold = panicThreshold;
    this.#judge.judge(this.#counts(), members, panicThreshold, this.now);
  }

  get doubted(): string[] {
    return [...this.#judge.doubts.keys()];
  }

  /** The VIP is forwarded to these from so many milliseconds after the last look on. */
  forward(members: readonly string[], after = 0): void {
    this.members = members;
    this.#judge.forwarding(members, this.now + after);
  }

  /** The reason of a doubt. */
  why(member: string): string | undefined {
    return this.#judge.doubts.get(member);
  }

  /**
   * Two seconds in which clients begin connections by `eth1`.
   * @param more.lost SYNs that arrive and do not leave
   * @param more.unfollowed SYNs that leave and are not followed
   */
  look(sent: Sent = {}, more: { readonly lost?: number; readonly unfollowed?: number } = {}): VipEvidence {
    this.now += 2000;
    for (const [member, [followed, established]] of Object.entries(sent)) {
      add(this.#arrived, 'eth1', followed);
      add(this.#syns, member, followed);
      add(this.#followed, member, followed);
      add(this.#established, member, established);
    }
    add(this.#arrived, 'eth1', (more.lost ?? 0) + (more.unfollowed ?? 0));
    const [first = ''] = this.members;
    add(this.#syns, first, more.unfollowed ?? 0);
    return this.#judge.judge(this.#counts(), this.members, this.#panicThreshold, this.now);
  }

  /** The tables were removed, and they were made again. */
  reset(): void {
    for (const map of [this.#arrived, this.#syns, this.#followed, this.#established]) map.clear();
  }

  #counts(): ClientCounts {
    const vip = '10.100.0.1';
    const byMember = (counts: ReadonlyMap<string, number>) =>
      [...counts].map(([nextHop, packets]) => ({ vip, nextHop, packets }));
    return {
      arrived: [...this.#arrived].map(([uplink, packets]) => ({ vip, uplink, packets })),
      sent: byMember(this.#syns).map((count) => ({ ...count, uplink: 'eth1' })),
      followed: byMember(this.#followed),
      established: byMember(this.#established),
    };
  }
}

function add(map: Map<string, number>, key: string, count: number): void {
  map.set(key, (map.get(key) ?? 0) + count);
}
