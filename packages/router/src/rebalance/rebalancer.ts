import { hostPrefix } from '@bgp-lb/protocol';
import type { Clock } from '@bgp-lb/protocol/node';

import type { RouterConfig } from '../config/router-config.ts';
import type { BucketMover, DataPlane } from '../dataplane/data-plane.ts';

/** A paced move of hash buckets to one member, as it is shown. */
export interface Rebalance {
  readonly vip: string;
  readonly member: string;
  readonly state: 'running' | 'done' | 'stopped';
  /** Buckets that have moved to members that had too few. */
  readonly moved: number;
  /** Of those: carried a packet within the idle timer, so that connections in them may have broken. */
  readonly busy: number;
  /** Buckets that the member should have more. */
  readonly missing: number;
  /** Why it was stopped, in words. */
  readonly reason: string;
}

export interface RebalanceOptions {
  /** Part of all buckets that may move in a second, 0 to 1. */
  readonly rate: number;
  /** Busy buckets that may move in all. */
  readonly mostBusy: number;
}

/** Time between two steps (ms). */
const STEP = 1000;
/** Several steps in a row that moved nothing: nothing will. */
const IDLE_STEPS = 3;

interface Run extends Rebalance {
  readonly options: RebalanceOptions;
  readonly idleSteps: number;
}

/** Runs rebalances, one for each VIP at a time, step by step. */
export class Rebalancer {
  readonly #dataPlane: Pick<DataPlane, 'kind' | 'buckets'>;
  readonly #clock: Clock;
  readonly #changed: (rebalance: Rebalance) => void;
  readonly #runs = new Map<string, Run>();
  readonly #cancels = new Map<string, () => void>();

  /** @param changed one has begun or ended */
  constructor(
    dataPlane: Pick<DataPlane, 'kind' | 'buckets'>,
    clock: Clock,
    changed: (rebalance: Rebalance) => void,
  ) {
    this.#dataPlane = dataPlane;
    this.#clock = clock;
    this.#changed = changed;
  }

  /** The last one of each VIP. */
  all(): Rebalance[] {
    return [...this.#runs.values()].map(shown);
  }

  /** Why the data plane can do nothing of the kind, in words; `undefined` where it can. */
  get unable(): string | undefined {
    const { kind, buckets } = this.#dataPlane;
    return buckets === undefined
      ? `the data plane \`${kind}\` spreads connections by no hash buckets: there is nothing to move, only \`kernel\` has them`
      : undefined;
  }

  /**
   * Begins, or goes on with other limits; the first step is done when it returns.
   * @throws Error where the data plane is unable to
   */
  start(vip: string, member: string, options: RebalanceOptions): Rebalance {
    const { buckets } = this.#dataPlane;
    if (buckets === undefined) throw new Error(this.unable);
    this.#cancels.get(vip)?.();
    const run: Run = {
      vip,
      member,
      state: 'running',
      moved: 0,
      busy: 0,
      missing: 0,
      reason: '',
      options,
      idleSteps: 0,
    };
    this.#changed(shown(run));
    return shown(this.#step(run, buckets));
  }

  /** Ends those of VIPs that are not in the configuration. */
  configure({ vips }: Pick<RouterConfig, 'vips'>): void {
    const known = new Set(vips.map(({ address }) => hostPrefix(address)));
    for (const vip of this.#runs.keys()) {
      if (known.has(vip)) continue;
      this.#cancels.get(vip)?.();
      this.#cancels.delete(vip);
      this.#runs.delete(vip);
    }
  }

  /** No more steps. */
  close(): void {
    for (const cancel of this.#cancels.values()) {
      cancel();
    }
    this.#cancels.clear();
  }

  #step(run: Run, buckets: BucketMover): Run {
    const { vip, member, options } = run;
    const move = buckets.moveBuckets(vip, member, {
      part: (options.rate * STEP) / 1000,
      mostBusy: options.mostBusy - run.busy,
    });
    const next = 'problem' in move ? { ...run, ...ended('stopped', move.problem) } : after(run, move);
    this.#runs.set(vip, next);
    if (next.state === 'running') {
      this.#cancels.set(
        vip,
        this.#clock.after(STEP, () => this.#step(next, buckets)),
      );
    } else {
      this.#cancels.delete(vip);
      this.#changed(shown(next));
    }
    return next;
  }
}

function after(
  run: Run,
  move: { readonly moved: number; readonly busy: number; readonly missing: number },
): Run {
  const { missing } = move;
  const [moved, busy] = [run.moved + move.moved, run.busy + move.busy];
  const next = { ...run, moved, busy, missing, idleSteps: move.moved === 0 ? run.idleSteps + 1 : 0 };
  if (missing === 0) {
    return { ...next, state: 'done' };
  }
  if (busy >= run.options.mostBusy && move.moved === 0) {
    return { ...next, ...ended('stopped', `${busy} busy buckets have moved, which is the limit`) };
  }
  return next.idleSteps < IDLE_STEPS ? next : { ...next, ...ended('stopped', 'no bucket can be moved') };
}

function ended(state: 'stopped', reason: string): Pick<Rebalance, 'state' | 'reason'> {
  return { state, reason };
}

function shown({ options: _, idleSteps: __, ...rebalance }: Run): Rebalance {
  return rebalance;
}
