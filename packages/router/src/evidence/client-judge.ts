import type { ClientCounts } from './client-counts.ts';
import { ClientWindow, type Span, sum } from './client-window.ts';
import { DoubtedMembers } from './doubted-members.ts';

/**
 * What becomes of clients of a VIP:
 * - `served`: what they begin is established;
 * - `dropped-here`: their SYNs arrive and do not leave this host;
 * - `unanswered`: they leave towards members, and are established with none;
 * - `too-many`: more begin than can be followed, a flood of SYNs perhaps: nothing follows from that;
 * - `too-few`: some, not enough to tell;
 * - `silent`: none arrives.
 */
export type ClientCause = 'served' | 'dropped-here' | 'unanswered' | 'too-many' | 'too-few' | 'silent';

/** What clients' own packets say of one member. */
interface MemberEvidence {
  readonly nextHop: string;
  readonly sent: number;
  readonly followed: number;
  readonly established: number;
  /** Why it is doubted, in words: clients are served by the others and not by it. `null` where it is not. */
  readonly doubt: string | null;
}

/** What clients' own packets say of a VIP, with the numbers that the words rest on. */
export interface VipEvidence {
  readonly cause: ClientCause;
  /** In words. */
  readonly text: string;
  /** Milliseconds that the numbers reach back. */
  readonly windowMs: number;
  /** SYNs that arrived, and that left towards members. */
  readonly arrived: number;
  readonly sent: number;
  /** Connections that were followed, and those of them that were established. */
  readonly followed: number;
  readonly established: number;
  readonly members: readonly MemberEvidence[];
}

/** True for what keeps clients from being served. */
export function isDoubtful(cause: ClientCause): boolean {
  return cause === 'dropped-here' || cause === 'unanswered';
}

/** Far enough back for a state to be told by (ms). */
const WINDOW = 60_000;
/** The fewest SYNs of an interface that a verdict rests on. */
const LEAST_ARRIVED = 8;
/** The fewest connections that a verdict rests on. */
const LEAST_FOLLOWED = 16;
/** A smaller part than this that gets on is next to nothing. */
const NEXT_TO_NOTHING = 0.1;
/** SYNs for each that is followed: one of a client that gets no answer is sent again twice in the time that it is followed. */
const TOO_MANY = 8;

/**
 * Judges what clients of one VIP sent. Any host that sends SYNs can make them look bad, and so can a scan or a flood from addresses that never
 * answer: what is said here ends nothing that works, and lowers members only as `DoubtedMembers` bounds it. Pure.
 */
export class ClientJudge {
  readonly #window = new ClientWindow();
  readonly #doubted = new DoubtedMembers();
  readonly #since: number;
  #lastArrival: number | undefined;
  #hadMembers = false;

  /** @param now monotonic milliseconds, as everywhere here */
  constructor(now: number) {
    this.#since = now;
  }

  /** Members that clients are not served by, though they are by others, each with why. */
  get doubts(): ReadonlyMap<string, string> {
    return this.#doubted.reasons;
  }

  /** The VIP is forwarded to these members from now on. */
  forwarding(members: readonly string[], now: number): void {
    this.#doubted.forwarding(members, now);
  }

  /**
   * Takes what was counted for this VIP until now.
   * @param members next hops that it is forwarded to
   * @param panicThreshold the part of them (0 to 1) that is never doubted
   */
  judge(
    counts: ClientCounts,
    members: readonly string[],
    panicThreshold: number,
    now: number,
  ): VipEvidence & { readonly news: ReturnType<ClientWindow['add']> } {
    const news = this.#window.add(counts, now);
    // SYNs that came while there was no member tell nothing of what becomes of those that come now.
    if (members.length === 0 || !this.#hadMembers) this.#window.clear();
    this.#hadMembers = members.length > 0;
    if (news.arrived > 0) this.#lastArrival = now;
    this.#doubted.look(this.#window, members, panicThreshold, now);
    const evidence = this.#evidence(members, now);
    const doubts = this.doubts;
    return {
      ...evidence,
      members: evidence.members.map((one) => ({ ...one, doubt: doubts.get(one.nextHop) ?? null })),
      news,
    };
  }

  #evidence(members: readonly string[], now: number): VipEvidence {
    const spans = [...this.#window.spans(now, WINDOW)];
    const dropped = members.length === 0 ? undefined : firstOf(spans, droppedHere);
    if (dropped !== undefined) return described('dropped-here', dropped.text, dropped.span, members);
    const enough = spans.find((span) => sum(span.followed) >= LEAST_FOLLOWED) ?? spans.at(-1);
    if (enough === undefined || sum(enough.arrived) + sum(enough.followed) === 0) {
      const seconds = Math.round((now - (this.#lastArrival ?? this.#since)) / 1000);
      const text =
        now - (this.#lastArrival ?? this.#since) < WINDOW
          ? 'no client has begun a connection yet'
          : `no SYN of a client has arrived for ${seconds} s`;
      return described('silent', text, enough, members);
    }
    const followed = sum(enough.followed);
    const established = Math.min(sum(enough.established), followed);
    const share = `${established} of ${followed} connections of clients were established within ${seconds(enough)}`;
    if (sum(enough.sent) > Math.max(LEAST_FOLLOWED, followed) * TOO_MANY) {
      const text = `${sum(enough.sent)} SYNs within ${seconds(enough)}, more than can be followed: nothing is concluded`;
      return described('too-many', text, enough, members);
    }
    if (followed < LEAST_FOLLOWED) return described('too-few', share, enough, members);
    return established <= followed * NEXT_TO_NOTHING
      ? described('unanswered', `${share}: answers of the members do not reach them`, enough, members)
      : described('served', share, enough, members);
  }
}

/** The newest span that tells that an interface's SYNs do not leave. One that has enough and shows them leave ends the search. */
function droppedHere(span: Span): { text: string } | 'not' | undefined {
  const uplinks = [...span.arrived].filter(([, count]) => count >= LEAST_ARRIVED);
  if (uplinks.length === 0) return undefined;
  const lost = uplinks.filter(([name, count]) => (span.left.get(name) ?? 0) <= count * NEXT_TO_NOTHING);
  if (lost.length === 0) return 'not';
  const words = lost.map(
    ([name, count]) => `${span.left.get(name) ?? 0} of ${count} SYNs that came by ${name}`,
  );
  return { text: `${words.join(', ')} within ${seconds(span)} left this host: it drops the others` };
}

function firstOf(
  spans: readonly Span[],
  look: (span: Span) => { text: string } | 'not' | undefined,
): { readonly text: string; readonly span: Span } | undefined {
  for (const span of spans) {
    const found = look(span);
    if (found === 'not') return undefined;
    if (found !== undefined) return { ...found, span };
  }
  return undefined;
}

const seconds = ({ ms }: Span): string => `${Math.max(1, Math.round(ms / 1000))} s`;

function described(
  cause: ClientCause,
  text: string,
  span: Span | undefined,
  members: readonly string[],
): VipEvidence {
  const of = (counts: ReadonlyMap<string, number> | undefined, key: string): number => counts?.get(key) ?? 0;
  return {
    cause,
    text,
    windowMs: Math.round(span?.ms ?? 0),
    arrived: span === undefined ? 0 : sum(span.arrived),
    sent: span === undefined ? 0 : sum(span.sent),
    followed: span === undefined ? 0 : sum(span.followed),
    established: span === undefined ? 0 : sum(span.established),
    members: members.map((nextHop) => ({
      nextHop,
      sent: of(span?.sent, nextHop),
      followed: of(span?.followed, nextHop),
      established: of(span?.established, nextHop),
      doubt: null,
    })),
  };
}
