import type { RouterConfig } from '../config/router-config.ts';
import type {
  FromSource,
  HostDeaths,
  HostLiveness,
  MembershipEvent,
  MembershipSource,
  StandingEvent,
} from './membership-source.ts';
import type { MemberSourceStatus } from './source-status.ts';

/** All that say which members there are. What each of them says is marked with who says it. */
export class MembershipSources implements HostLiveness {
  readonly #sources: readonly MembershipSource[];

  constructor(sources: readonly MembershipSource[]) {
    this.#sources = sources;
  }

  /** Begins with each, in order. Throws when one of them cannot. */
  async start(sink: (events: readonly FromSource<MembershipEvent>[]) => void): Promise<void> {
    for (const source of this.#sources) {
      await source.start((events) => sink(events.map((event) => from(source, event))));
    }
  }

  /** What is so of the members at the moment: what a new VIP's pool is to know besides what they announce. */
  standing(): readonly FromSource<StandingEvent>[] {
    return this.#sources.flatMap((source) => source.standing().map((event) => from(source, event)));
  }

  /** What the lists of all are at the moment. */
  status(): readonly MemberSourceStatus[] {
    return this.#sources.flatMap((source) => source.status?.() ?? []);
  }

  /** Each finds what is different for it. */
  configure(next: RouterConfig): void {
    for (const source of this.#sources) {
      source.configure?.(next);
    }
  }

  hostsDead(deaths: HostDeaths): void {
    for (const { liveness } of this.#sources) {
      liveness?.hostsDead(deaths);
    }
  }

  bfdRequired(address: string, isUp: boolean): void {
    for (const { liveness } of this.#sources) {
      liveness?.bfdRequired(address, isUp);
    }
  }

  /** Ends all, also when one of them cannot. Throws the first failure. */
  async stop(): Promise<void> {
    const ends = await Promise.allSettled(this.#sources.map((source) => source.stop()));
    for (const end of ends) {
      if (end.status === 'rejected') throw end.reason;
    }
  }
}

function from<E extends MembershipEvent>({ kind }: MembershipSource, event: E): FromSource<E> {
  const name = event.type === 'listed' ? (event.list ?? '') : '';
  return { ...event, source: { kind, name } } as unknown as FromSource<E>;
}
