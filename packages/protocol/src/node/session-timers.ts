import type { Clock } from './clock.ts';
import type { Deadlines } from './deadlines.ts';

/**
 * Milliseconds between the points of the clock at which timers of all sessions are looked at together, so that many
 * sessions do not wake the process for each by itself.
 */
const GRID = 50;

/** A timer that was started at least once. */
interface Entry {
  /** Monotonic milliseconds; `undefined` while it does not run. */
  deadline: number | undefined;
  /** When it is looked at; `undefined` when it is not. */
  armedFor: number | undefined;
  /** The turn of the event loop in which silence is believed. */
  check: NodeJS.Immediate | undefined;
  readonly look: () => void;
}

export interface SessionTimersOptions<Name extends string> {
  readonly clock: Clock;
  /** Shared by all sessions of the clock. */
  readonly deadlines: Deadlines;
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
 * it is looked at once more when it was looked at too early.
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
    const now = this.#options.clock.now();
    const deadline = this.#deadline(name, now, seconds * 1000);
    const entry = this.#entries.get(name) ?? this.#add(name);
    entry.deadline = deadline;
    if (entry.armedFor === undefined || entry.armedFor > deadline) this.#arm(entry, deadline, now);
  }

  stop(name: Name): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    entry.deadline = undefined;
    this.#disarm(entry);
  }

  stopAll(): void {
    for (const name of this.#entries.keys()) this.stop(name);
  }

  isRunning(name: Name): boolean {
    return this.#entries.get(name)?.deadline !== undefined;
  }

  /** Milliseconds until each one that runs expires. */
  remaining(): Partial<Record<Name, number>> {
    const now = this.#options.clock.now();
    const left = [...this.#entries].flatMap(([name, { deadline }]) =>
      deadline === undefined ? [] : [[name, Math.max(0, Math.round(deadline - now))]],
    );
    return Object.fromEntries(left);
  }

  /** @param most milliseconds */
  #deadline(name: Name, now: number, most: number): number {
    const { random, jittered: names, least } = this.#options;
    if (!names.includes(name)) return now + most;
    const shortest = Math.max(0.75 * most, Math.min(most, 1000 * (least?.[name] ?? 0)));
    return jittered(now, shortest, most, random());
  }

  #add(name: Name): Entry {
    const entry: Entry = {
      deadline: undefined,
      armedFor: undefined,
      check: undefined,
      look: () => this.#look(name, entry),
    };
    this.#entries.set(name, entry);
    return entry;
  }

  #arm(entry: Entry, deadline: number, now: number): void {
    this.#disarm(entry);
    const before = Math.floor(deadline / GRID) * GRID;
    entry.armedFor = before > now ? before : deadline;
    this.#options.deadlines.add(entry.armedFor, entry.look);
  }

  #disarm(entry: Entry): void {
    if (entry.armedFor !== undefined) this.#options.deadlines.delete(entry.armedFor, entry.look);
    entry.armedFor = undefined;
    clearImmediate(entry.check);
    entry.check = undefined;
  }

  #look(name: Name, entry: Entry): void {
    entry.armedFor = undefined;
    if (!this.#isDue(entry)) return;
    if (!this.#options.silence.includes(name)) {
      this.#expire(name, entry);
      return;
    }
    // When our own process stalled, the peer's messages wait in the socket: setImmediate comes after they were read.
    clearImmediate(entry.check);
    entry.check = setImmediate(() => {
      entry.check = undefined;
      if (this.#isDue(entry)) this.#expire(name, entry);
    });
  }

  /** True when the deadline has passed; otherwise, unless the timer was stopped, it will be looked at again. */
  #isDue(entry: Entry): boolean {
    const { deadline } = entry;
    if (deadline === undefined) return false;
    const now = this.#options.clock.now();
    if (now >= deadline) return true;
    if (entry.armedFor === undefined) this.#arm(entry, deadline, now);
    return false;
  }

  #expire(name: Name, entry: Entry): void {
    entry.deadline = undefined;
    this.#options.expired(name);
  }
}

/**
 * When a timer expires that runs for 0.75 to 1.0 of its time (RFC 4271 section 10): at a point of the grid, where one lies between
 * the two.
 * @param least milliseconds
 * @param most milliseconds
 * @param random in [0, 1)
 */
function jittered(now: number, least: number, most: number, random: number): number {
  const [earliest, latest] = [now + least, now + most];
  const wanted = Math.max(earliest, now + (0.75 + 0.25 * random) * most);
  const point = Math.round(wanted / GRID) * GRID;
  const nearest = point < earliest ? point + GRID : point > latest ? point - GRID : point;
  return nearest < earliest || nearest > latest ? wanted : nearest;
}
