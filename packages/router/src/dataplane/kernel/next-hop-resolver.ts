import { isUnanswered, type Link, NetlinkError, type RouteSocket } from '@bgp-lb/linux';
import type { Resolution } from './desired-objects.ts';

/**
 * Asks the kernel by which interface a next hop is on link. Answers are kept until `invalidate`, so that a change
 * of a pool costs no request.
 *
 * A question that the kernel leaves unanswered says nothing about a next hop: what was known of it holds, and nothing more is
 * asked until `invalidate`.
 */
export class NextHopResolver {
  #socket: Pick<RouteSocket, 'links' | 'routeTo'>;
  #links: ReadonlyMap<number, Link> | undefined;
  #answers = new Map<string, Resolution>();
  /** What was known before `invalidate`. */
  #before: { readonly links: ReadonlyMap<number, Link>; readonly answers: ReadonlyMap<string, Resolution> } =
    {
      links: new Map(),
      answers: new Map(),
    };
  #silence: string | undefined;

  constructor(socket: Pick<RouteSocket, 'links' | 'routeTo'>) {
    this.#socket = socket;
  }

  /** What was asked since `invalidate` and left unanswered, with the error. */
  get silence(): string | undefined {
    return this.#silence;
  }

  /** Forgets all answers: a link, an address or a route has changed. */
  invalidate(): void {
    const { links, answers } = this.#before;
    // After a silence, what was not asked again is as it was known before that.
    this.#before = {
      links: this.#links ?? links,
      answers: this.#silence === undefined ? this.#answers : new Map([...answers, ...this.#answers]),
    };
    this.#links = undefined;
    this.#answers = new Map();
    this.#silence = undefined;
  }

  /** The kernel refused the next hop although it resolved: it counts as unusable until `invalidate`. */
  refuse(nextHop: string, problem: string): void {
    this.#answers.set(nextHop, { problem, isRefusal: true });
  }

  resolve(nextHop: string): Resolution {
    let answer = this.#answers.get(nextHop);
    if (answer === undefined) {
      answer = this.#ask(nextHop);
      this.#answers.set(nextHop, answer);
    }
    return answer;
  }

  /** Names of the interfaces towards next hops, of those that can be used. */
  interfacesTo(nextHops: Iterable<string>): ReadonlySet<string> {
    const ways = [...nextHops].map((nextHop) => this.resolve(nextHop));
    return new Set(ways.flatMap((way) => ('problem' in way ? [] : [way.interfaceName])));
  }

  /** The name of an interface, its number when it is gone. */
  interfaceName(index: number): string {
    return this.links().get(index)?.name ?? String(index);
  }

  links(): ReadonlyMap<number, Link> {
    return this.#unlessSilent(
      () => {
        this.#links ??= new Map(this.#socket.links().map((link) => [link.index, link]));
        return this.#links;
      },
      () => this.#before.links,
    );
  }

  #ask(nextHop: string): Resolution {
    return this.#unlessSilent(
      () => this.#question(nextHop),
      () => this.#before.answers.get(nextHop) ?? { problem: `no answer about the way to ${nextHop}` },
    );
  }

  #unlessSilent<T>(ask: () => T, known: () => T): T {
    if (this.#silence !== undefined) {
      return known();
    }
    try {
      return ask();
    } catch (error) {
      if (!isUnanswered(error)) {
        throw error;
      }
      this.#silence = error.message;
      return known();
    }
  }

  #question(nextHop: string): Resolution {
    try {
      const decision = this.#socket.routeTo(nextHop);
      const link = this.links().get(decision.interfaceIndex);
      if (decision.type === 'local') {
        return { problem: `${nextHop} is an address of this host` };
      }
      if (decision.type !== 'unicast' || link === undefined) {
        return { problem: `${nextHop} has no route (${decision.type})` };
      }
      if (decision.gateway !== undefined) {
        // Another router in between would look the VIP up by its own table, and may send it back.
        return { problem: `${nextHop} is not on link: its route goes by ${decision.gateway} (${link.name})` };
      }
      if (!link.isUp) {
        return { problem: `${link.name} is down` };
      }
      if (!link.hasCarrier) {
        return { problem: `no carrier on ${link.name}` };
      }
      return { interfaceIndex: link.index, interfaceName: link.name };
    } catch (error) {
      if (error instanceof NetlinkError && error.isAnswer) {
        return { problem: `${nextHop} has no route: ${error.message}` };
      }
      throw error;
    }
  }
}
