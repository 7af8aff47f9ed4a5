import type { Clock } from './clock.ts';

/**
 * Milliseconds between the points of the clock at which timers of all sessions are looked at together, so that many
 * sessions do not wake the process for each by itself.
 */
const GRID = 50;

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
 *
 * Jittered ones expire on a grid of the clock that all sessions share. Others expire at their time to the millisecond, but
 * are looked at on the grid before: mostly they have been restarted by then.
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
    const now = clock.now();
    const most = seconds * 1000;
    const shortest = Math.max(0.75 * most, Math.min(most, 1000 * (least?.[name] ?? 0)));
    const deadline = now + (jittered.includes(name) ? jitter(now, shortest, most, random()) : most);
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
    const now = this.#options.clock.now();
    const before = Math.floor(entry.deadline / GRID) * GRID;
    entry.cancel();
    entry.armedFor = before > now ? before : entry.deadline;
    entry.cancel = this.#options.clock.after(entry.armedFor - now, () => {
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

/**
 * Milliseconds until a timer expires that runs for 0.75 to 1.0 of its time (RFC 4271 section 10): to a point of the grid, where
 * one lies between the two.
 * @param least milliseconds
 * @param most milliseconds
 * @param random in [0, 1)
 */
function jitter(now: number, least: number, most: number, random: number): number {
  const wanted = Math.max(least, (0.75 + 0.25 * random) * most);
  const onGrid = Math.round((now + wanted) / GRID) * GRID - now;
  const nearest = onGrid < least ? onGrid + GRID : onGrid > most ? onGrid - GRID : onGrid;
  return nearest < least || nearest > most ? wanted : nearest;
}
