import { judgePath, type MemberPath, type PathVerdict } from '../paths/member-path.ts';
import type { DataPlaneChoice } from './data-plane-choice.ts';

/** A member that answers at its own address and not by the VIP may be about to have the VIP: so long that is waited for (ms). */
const CONFIRM = 5000;
/** After the first member that passes others are waited for, which may be seconds behind it at a start (ms). */
const SETTLE = 3000;
/** So long those are waited for that are known and do not answer at all (ms). */
const ABSENT = 10_000;

/** What is known so far. */
export type TrialState = Pick<DataPlaneChoice, 'kind' | 'reason'> | { readonly waiting: string };

interface Trial {
  readonly name: string;
  readonly verdict: PathVerdict;
  readonly text: string;
  readonly isPointToPoint: boolean;
  readonly since: number;
}

/**
 * Decides from tests of the paths to the members: the kernel where every member that answers passes, else HAProxy. Pure: tests and the
 * time in, what is known out.
 */
export class DataPlaneTrial {
  #trials = new Map<string, Trial>();
  #firstPassed: number | undefined;

  /** Takes one test of all paths in. @param now monotonic milliseconds */
  tested(paths: readonly MemberPath[], now: number): TrialState {
    this.#trials = new Map(
      paths.map((path) => {
        const key = `${path.vip} ${path.nextHop}`;
        const { verdict, text } = judgePath(path);
        const before = this.#trials.get(key);
        const since = before?.verdict === verdict ? before.since : now;
        const isPointToPoint = path.link?.isPointToPoint === true;
        return [key, { name: path.name, verdict, text, isPointToPoint, since }];
      }),
    );
    const trials = [...this.#trials.values()];
    const answering = trials.filter(({ verdict }) => verdict !== 'untested');
    if (answering.length === 0) {
      this.#firstPassed = undefined;
      return {
        waiting:
          trials.length === 0
            ? 'no member is known yet'
            : 'no member answers yet, not even at its own address',
      };
    }
    return this.#unfit(answering, now) ?? this.#fit(trials, answering, now);
  }

  /** What keeps the kernel from it. */
  #unfit(answering: readonly Trial[], now: number): TrialState | undefined {
    // Also one that passes: the address that leads to it leads nowhere else, and the next member will not.
    const tunnelled = answering.find(({ isPointToPoint }) => isPointToPoint);
    if (tunnelled !== undefined) {
      const why = 'which gives an address to one peer';
      return {
        kind: 'haproxy',
        reason: `${tunnelled.name} is behind an interface without a link layer, ${why}`,
      };
    }
    const failing = answering.filter(({ verdict }) => verdict !== 'passes');
    const failed = failing.find(({ since }) => now - since >= CONFIRM);
    if (failed !== undefined) return { kind: 'haproxy', reason: `${failed.name}: ${failed.text}` };
    if (failing.length === 0) return undefined;
    const names = failing.map(({ name }) => name).join(', ');
    return { waiting: `${names} may get the VIP within seconds` };
  }

  #fit(trials: readonly Trial[], answering: readonly Trial[], now: number): TrialState {
    this.#firstPassed ??= now;
    const elapsed = now - this.#firstPassed;
    const absent = trials.filter(({ verdict }) => verdict === 'untested');
    if (absent.length > 0 && elapsed < ABSENT) {
      return { waiting: `${absent.map(({ name }) => name).join(', ')} may answer within seconds` };
    }
    if (elapsed < SETTLE) return { waiting: 'other members may come within seconds' };
    const names = [...new Set(answering.map(({ name }) => name))].join(', ');
    return { kind: 'kernel', reason: `requests to the VIPs through ${names} are answered` };
  }
}
