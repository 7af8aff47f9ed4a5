import type { ListedMember } from '../../pool/member-claims.ts';
import type { Intent } from '../../pool/member-view.ts';
import type { HostLiveness, MembershipSink, MembershipSource, StandingEvent } from '../membership-source.ts';

/** A source whose members have sessions, in memory. */
export class MemorySessions implements MembershipSource {
  readonly kind = 'memory';
  readonly liveness: HostLiveness = {
    hostsDead: ({ addresses, doubtful, window }) => {
      const dead = addresses.filter((address) => this.#live.has(address));
      for (const address of dead) this.#paths.delete(address);
      const members = dead.map((nextHop) => ({
        nextHop,
        reason: 'said to be dead',
        isDoubtful: doubtful.has(nextHop),
      }));
      this.#sink([{ type: 'lost', members, window }]);
      for (const address of dead) this.#session(address, false, 'said to be dead');
    },
    bfdRequired: (address, isUp) => {
      if (isUp) this.#withoutBfd.delete(address);
      else this.#withoutBfd.add(address);
      this.#sink([barrier(address, isUp)]);
    },
  };
  readonly #vips: readonly string[];
  #sink: MembershipSink = () => undefined;
  readonly #live = new Set<string>();
  readonly #withoutBfd = new Set<string>();
  /** What each member has announced: `vip intent`; behind a `-` where it is stale. */
  readonly #paths = new Map<string, Map<string, Intent | 'stale'>>();

  constructor(vips: readonly string[]) {
    this.#vips = vips;
  }

  async start(sink: MembershipSink): Promise<void> {
    this.#sink = sink;
  }

  async stop(): Promise<void> {
    this.#sink = () => undefined;
  }

  standing(): readonly StandingEvent[] {
    const sessions = [...this.#live].map((nextHop) => session(nextHop, true));
    return [...sessions, ...[...this.#withoutBfd].map((address) => barrier(address, false))];
  }

  /** A member connects, and tells what it has. */
  join(nextHop: string, vips: readonly string[]): void {
    this.#live.add(nextHop);
    this.#session(nextHop, true);
    for (const vip of vips) this.announce(nextHop, vip, 'active');
    for (const [vip, said] of this.#pathsOf(nextHop)) {
      if (said === 'stale') this.withdraw(nextHop, vip, 'announced no more');
    }
    this.#sink([{ type: 'complete', nextHop }]);
  }

  announce(nextHop: string, vip: string, intent: Intent): void {
    const paths = this.#pathsOf(nextHop);
    if (!this.#vips.includes(vip) || paths.get(vip) === intent) {
      return;
    }
    paths.set(vip, intent);
    const why = intent === 'active' ? {} : { why: `it is ${intent}` };
    this.#sink([{ type: 'announced', vip, nextHop, name: nextHop, intent, ...why }]);
  }

  withdraw(nextHop: string, vip: string, reason: string): void {
    if (this.#pathsOf(nextHop).delete(vip)) {
      this.#sink([{ type: 'withdrawn', vip, nextHop, reason }]);
    }
  }

  /** Its process ends, and its host lives on. */
  die(nextHop: string): void {
    for (const vip of this.#pathsOf(nextHop).keys()) {
      this.#pathsOf(nextHop).set(vip, 'stale');
      this.#sink([{ type: 'stale', vip, nextHop, reason: 'its process ended' }]);
    }
    this.#session(nextHop, false, 'its process ended');
  }

  leave(nextHop: string): void {
    for (const vip of this.#pathsOf(nextHop).keys()) {
      this.withdraw(nextHop, vip, 'left in order');
    }
    this.#session(nextHop, false, 'left in order');
  }

  /** The paths of one whose session is gone were kept long enough. */
  sweep(nextHop: string): void {
    for (const vip of this.#pathsOf(nextHop).keys()) {
      this.withdraw(nextHop, vip, 'not claimed');
    }
  }

  #session(nextHop: string, isLive: boolean, reason?: string): void {
    if (!isLive) this.#live.delete(nextHop);
    this.#sink([{ ...session(nextHop, isLive), ...(reason !== undefined && { reason }) }]);
  }

  #pathsOf(nextHop: string): Map<string, Intent | 'stale'> {
    const paths = this.#paths.get(nextHop) ?? new Map<string, Intent | 'stale'>();
    this.#paths.set(nextHop, paths);
    return paths;
  }
}

/** A source that lists members, in memory. */
export class MemoryList implements MembershipSource {
  readonly kind: string;
  readonly #vip: string;
  #sink: MembershipSink = () => undefined;
  #last = '';

  constructor(kind: string, vip: string) {
    this.kind = kind;
    this.#vip = vip;
  }

  async start(sink: MembershipSink): Promise<void> {
    this.#sink = sink;
  }

  async stop(): Promise<void> {
    this.#sink = () => undefined;
  }

  standing(): readonly StandingEvent[] {
    return [];
  }

  write(members: readonly ListedMember[]): void {
    const text = JSON.stringify(members);
    if (text === this.#last) {
      return;
    }
    this.#last = text;
    this.#sink([{ type: 'listed', vip: this.#vip, members }]);
  }
}

function session(nextHop: string, isLive: boolean): Extract<StandingEvent, { type: 'session' }> {
  const state = isLive ? 'up' : 'down';
  return { type: 'session', nextHop, name: nextHop, session: { isLive, state } };
}

function barrier(nextHop: string, isUp: boolean): StandingEvent {
  return { type: 'barrier', nextHop, barrier: 'bfd', reason: isUp ? undefined : 'BFD is not Up' };
}
