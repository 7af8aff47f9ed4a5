import type { Clock } from './clock.ts';

interface Entry {
  /** Monotonic milliseconds. */
  deadline: number;
  /** When the clock will call; `undefined` when no call is pending. */
  armedFor: number | undefined;
  cancel: () => void;
}

export interface SessionTimersOptions<Name extends string> {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** Timers that run for 0.75 to 1.0 of their time (RFC 4271 section 10). */
  readonly jittered: readonly Name[];
  /** In seconds: what jitter leaves of a timer at least. */
  readonly least?: Partial<Readonly<Record<Name, number>>>;
  /** Timers that stand for silence of the peer: input that waits in the socket is read before they count as expired. */
  readonly silence: readonly Name[];
  readonly expired: (name: Name) => void;
}

/**
 * The named timers of a session. Restarting one, which the hold timer does with each message, only moves its deadline:
 * the clock is asked again when it calls too early.
 */
export class SessionTimers<Name extends string> {
  readonly #options: SessionTimersOptions<Name>;
  readonly #entries = new Map<Name, Entry>();

  constructor(options: SessionTimersOptions<Name>) {
    this.#options = options;
  }

  /** Starts or restarts a timer. */
  start(name: Name, seconds: number): void {
    const { clock, random, jittered, least } = this.#options;
    const factor = jittered.includes(name) ? 0.75 + random() * 0.25 : 1;
    const deadline = clock.now() + 1000 * Math.max(seconds * factor, Math.min(seconds, least?.[name] ?? 0));
    const entry = this.#entries.get(name);
    if (entry === undefined) {
      const fresh: Entry = { deadline, armedFor: undefined, cancel: () => undefined };
      this.#entries.set(name, fresh);
      this.#arm(name, fresh);
      return;
    }
    entry.deadline = deadline;
    if (entry.armedFor !== undefined && entry.armedFor <= deadline) return;
    this.#arm(name, entry);
  }

  stop(name: Name): void {
    this.#entries.get(name)?.cancel();
    this.#entries.delete(name);
  }

  stopAll(): void {
    for (const name of [...this.#entries.keys()]) this.stop(name);
  }

  isRunning(name: Name): boolean {
    return this.#entries.has(name);
  }

  /** Milliseconds until each one that runs expires. */
  remaining(): Partial<Record<Name, number>> {
    const now = this.#options.clock.now();
    const left = [...this.#entries].map(([name, { deadline }]) => [
      name,
      Math.max(0, Math.round(deadline - now)),
    ]);
    return Object.fromEntries(left);
  }

  #arm(name: Name, entry: Entry): void {
    entry.cancel();
    entry.armedFor = entry.deadline;
    entry.cancel = this.#options.clock.after(entry.deadline - this.#options.clock.now(), () => {
      entry.armedFor = undefined;
      if (!this.#isDue(name, entry)) return;
      if (!this.#options.silence.includes(name)) {
        this.#expire(name);
        return;
      }
      // When our own process stalled, the peer's messages wait in the socket: setImmediate comes after they were read.
      const check = setImmediate(() => {
        if (this.#isDue(name, entry)) this.#expire(name);
      });
      entry.cancel = () => clearImmediate(check);
    });
  }

  /** True when the deadline has passed; otherwise, unless the timer was stopped, the clock is asked again. */
  #isDue(name: Name, entry: Entry): boolean {
    if (this.#entries.get(name) !== entry) return false;
    if (this.#options.clock.now() >= entry.deadline) return true;
    if (entry.armedFor === undefined) this.#arm(name, entry);
    return false;
  }

  #expire(name: Name): void {
    this.#entries.delete(name);
    this.#options.expired(name);
  }
}
