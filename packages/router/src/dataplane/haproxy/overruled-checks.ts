import type { WeightedNextHop } from '../../pool/member-view.ts';
import { servesOf } from './haproxy-status.ts';
import type { RunningServer } from './run-time-answers.ts';

/** At least so long (ms), so that neither flaps. */
const HOLD = 5000;
/** As long as HAProxy has no server by its own checks (ms): after a start it takes some of them to find out which are good. */
const PATIENCE = 1000;

/**
 * The members of one VIP that are used whatever HAProxy's check says. Where HAProxy would use none of those that the pool uses, the
 * pool is right: better an API server that is not ready than none.
 */
export class OverruledChecks {
  /** Until then at least (monotonic ms). */
  readonly #until = new Map<string, number>();
  /** Since when HAProxy would use none (monotonic ms). */
  #emptySince: number | undefined;

  has(nextHop: string): boolean {
    return this.#until.has(nextHop);
  }

  /**
   * @param servers of this VIP as they are
   * @param isByPool the pool uses this member although its own health check says otherwise
   */
  look(
    nextHops: readonly WeightedNextHop[],
    servers: readonly RunningServer[],
    isByPool: (nextHop: string) => boolean,
    now: number,
  ): void {
    const isEmpty = servers.filter(servesOf(nextHops)).every(({ name }) => this.has(name));
    this.#emptySince = isEmpty ? (this.#emptySince ?? now) : undefined;
    const isLasting = this.#emptySince !== undefined && now - this.#emptySince >= PATIENCE;
    for (const { nextHop } of nextHops) {
      const server = servers.find(({ name }) => name === nextHop);
      const until = this.#until.get(nextHop);
      // One that answers by TLS but is not ready, and one of which the pool says that it is used all the same.
      const isCandidate =
        server !== undefined && ((isLasting && server.check === 'L7OKC') || isByPool(nextHop));
      if (isEmpty && isCandidate) {
        if (until === undefined) this.#until.set(nextHop, now + HOLD);
      } else if (until !== undefined && now >= until) {
        this.#until.delete(nextHop);
      }
    }
    for (const nextHop of this.#until.keys()) {
      if (!nextHops.some((one) => one.nextHop === nextHop)) this.#until.delete(nextHop);
    }
  }
}
