import type { Clock } from './clock.ts';

interface Moment {
  readonly calls: Set<() => void>;
  cancel: () => void;
}

/**
 * Calls at points of time. Those for the same point share one timer of the clock: a timer of Node's for each of many
 * sessions costs more than what is done when it fires.
 */
export class Deadlines {
  readonly #clock: Clock;
  /** By their time, in monotonic milliseconds. */
  readonly #moments = new Map<number, Moment>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls once when `time` has come, in monotonic milliseconds: never before. */
  add(time: number, call: () => void): void {
    const known = this.#moments.get(time);
    if (known !== undefined) {
      known.calls.add(call);
      return;
    }
    const moment: Moment = { calls: new Set([call]), cancel: () => undefined };
    this.#moments.set(time, moment);
    this.#ask(time, moment);
  }

  /** Takes back a call that was added for `time`; nothing happens when it was made already. */
  delete(time: number, call: () => void): void {
    const moment = this.#moments.get(time);
    if (moment?.calls.delete(call) !== true || moment.calls.size > 0) return;
    moment.cancel();
    this.#moments.delete(time);
  }

  #ask(time: number, moment: Moment): void {
    moment.cancel = this.#clock.after(time - this.#clock.now(), () => this.#come(time, moment));
  }

  #come(time: number, moment: Moment): void {
    // Node's timers have whole milliseconds, and fire up to one early.
    if (this.#clock.now() < time) {
      this.#ask(time, moment);
      return;
    }
    const { calls } = moment;
    try {
      // One that another takes back is not made; one that is added meanwhile has its own turn.
      for (const call of [...calls]) if (calls.delete(call)) call();
    } finally {
      // A call that throws does not take the others with it.
      if (calls.size > 0) this.#ask(time, moment);
      else if (this.#moments.get(time) === moment) this.#moments.delete(time);
    }
  }
}
