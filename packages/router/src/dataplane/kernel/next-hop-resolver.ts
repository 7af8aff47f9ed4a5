import { type Link, NetlinkError, type RouteSocket } from '@bgp-lb/linux';
import type { Resolution } from './desired-objects.ts';

/**
 * Asks the kernel by which interface a next hop is on link. Answers are kept until `invalidate`, so that a change
 * of a pool costs no request.
 */
export class NextHopResolver {
  #socket: RouteSocket;
  #links: ReadonlyMap<number, Link> | undefined;
  #answers = new Map<string, Resolution>();

  constructor(socket: RouteSocket) {
    this.#socket = socket;
  }

  /** Forgets all answers: a link, an address or a route has changed. */
  invalidate(): void {
    this.#links = undefined;
    this.#answers.clear();
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

  /** The name of an interface, its number when it is gone. */
  interfaceName(index: number): string {
    return this.links().get(index)?.name ?? String(index);
  }

  links(): ReadonlyMap<number, Link> {
    this.#links ??= new Map(this.#socket.links().map((link) => [link.index, link]));
    return this.#links;
  }

  #ask(nextHop: string): Resolution {
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
      if (error instanceof NetlinkError) {
        return { problem: `${nextHop} has no route: ${error.message}` };
      }
      throw error;
    }
  }
}
