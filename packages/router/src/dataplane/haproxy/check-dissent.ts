import type { WeightedNextHop } from '../../pool/member-view.ts';
import { checkText } from './haproxy-status.ts';
import type { RunningServer } from './run-time-answers.ts';

/** For so long (ms) the two checks have to differ: each takes some probes to notice the same thing. */
const LASTING = 2000;

/** What changed of what is said about one member; `undefined`: both checks say the same again. */
export interface Dissent {
  readonly nextHop: string;
  readonly text: string | undefined;
}

interface Difference {
  readonly isUp: boolean;
  /** Monotonic ms. */
  readonly since: number;
  isTold: boolean;
}

/**
 * The members of one VIP of which HAProxy's check says something else than the pool goes by. Both ask the same of the same address: where
 * they differ for long, one of them is set up otherwise than the other, or something is between.
 */
export class CheckDissent {
  readonly #differences = new Map<string, Difference>();

  /**
   * @param servers of this VIP as they are
   * @param isByPool the pool uses this member although its own health check says otherwise
   */
  look(
    nextHops: readonly WeightedNextHop[],
    servers: readonly RunningServer[],
    isByPool: (nextHop: string) => boolean,
    now: number,
  ): Dissent[] {
    const found = new Map(
      servers
        .filter(({ name }) => nextHops.some(({ nextHop }) => nextHop === name))
        // Which does not check at the moment has no opinion.
        .filter(({ isChecked, check, isUp, name }) => isChecked && check !== '' && isUp === isByPool(name))
        .map((server) => [server.name, server]),
    );
    return [...this.#end(found), ...this.#tell(found, now)];
  }

  #end(found: ReadonlyMap<string, RunningServer>): Dissent[] {
    const ended: Dissent[] = [];
    for (const [nextHop, { isUp, isTold }] of this.#differences) {
      if (found.get(nextHop)?.isUp === isUp) continue;
      this.#differences.delete(nextHop);
      if (isTold) ended.push({ nextHop, text: undefined });
    }
    return ended;
  }

  #tell(found: ReadonlyMap<string, RunningServer>, now: number): Dissent[] {
    const told: Dissent[] = [];
    for (const [nextHop, server] of found) {
      const { isUp } = server;
      const known = this.#differences.get(nextHop) ?? { isUp, since: now, isTold: false };
      this.#differences.set(nextHop, known);
      if (known.isTold || now - known.since < LASTING) continue;
      known.isTold = true;
      told.push({
        nextHop,
        text: `HAProxy says ${checkText(server)}; the health check ${isUp ? 'fails' : 'passes'}`,
      });
    }
    return told;
  }
}
