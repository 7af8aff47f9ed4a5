import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';

/** An event as it is kept and shown. */
export interface LoggedEvent {
  /** 1, 2, 3 ... since the daemon started. */
  readonly sequence: number;
  /** Wall clock, ISO 8601 with milliseconds, UTC. For people: it may jump. */
  readonly time: string;
  /** Milliseconds of the monotonic clock: for differences. */
  readonly monotonicMs: number;
  /** What happened, like `neighbor-established`. */
  readonly type: string;
  readonly [field: string]: unknown;
}

/** What `EventLog` needs. */
export interface EventLogOptions {
  /** The newest events that are kept. */
  readonly capacity: number;
  /** Monotonic milliseconds; `performance.now` by default. */
  readonly clock?: { now(): number };
  /** The wall clock; for tests. */
  readonly wallClock?: () => Date;
  /** Hears of a subscriber that threw; it is dropped. */
  readonly onSubscriberError?: (error: unknown) => void;
}

/** Text fields are cut at this many characters: some carry a peer's words. */
const MAX_FIELD_LENGTH = 1024;

/** The last events of a daemon in memory, oldest overwritten first. */
export class EventLog {
  /** Differs with each start of the daemon, so that a sequence number of an earlier life is not taken for one of this life. */
  readonly instance: string = randomBytes(4).toString('hex');
  readonly #capacity: number;
  readonly #clock: { now(): number };
  readonly #wallClock: () => Date;
  readonly #onSubscriberError: ((error: unknown) => void) | undefined;
  readonly #ring: LoggedEvent[] = [];
  readonly #subscribers = new Set<(event: LoggedEvent) => void>();
  #sequence = 0;

  constructor(options: EventLogOptions) {
    if (!Number.isInteger(options.capacity) || options.capacity < 1) {
      throw new RangeError(
        `capacity of the event log is ${options.capacity}; allowed: a whole number from 1`,
      );
    }
    this.#capacity = options.capacity;
    this.#clock = options.clock ?? performance;
    this.#wallClock = options.wallClock ?? (() => new Date());
    this.#onSubscriberError = options.onSubscriberError;
  }

  /** The sequence number of the newest event, 0 before the first. */
  get lastSequence(): number {
    return this.#sequence;
  }

  /** Keeps an event and tells the subscribers. A field cannot replace `sequence`, `time`, `monotonicMs` or `type`. */
  append(type: string, fields: object = {}): LoggedEvent {
    this.#sequence += 1;
    const own = {
      sequence: this.#sequence,
      time: this.#wallClock().toISOString(),
      monotonicMs: Math.round(this.#clock.now() * 1000) / 1000,
      type,
    };
    const event: LoggedEvent = { ...own, ...cutFields(fields), ...own };
    this.#ring[(this.#sequence - 1) % this.#capacity] = event;
    for (const subscriber of [...this.#subscribers]) this.#tell(subscriber, event);
    return event;
  }

  /** The newest `count` events (all that are kept by default), oldest first. */
  recent(count: number = this.#capacity): LoggedEvent[] {
    const kept = Math.min(this.#sequence, this.#capacity, Math.max(0, Math.trunc(count)));
    return this.#range(this.#sequence - kept);
  }

  /** The kept events after a sequence number, oldest first, and how many were overwritten already. */
  since(sequence: number): { readonly events: LoggedEvent[]; readonly missed: number } {
    const oldest = Math.max(0, this.#sequence - this.#capacity);
    const from = Math.max(sequence, oldest);
    return { events: this.#range(from), missed: Math.max(0, oldest - sequence) };
  }

  /** Calls back with each new event, within `append`. Returns what ends it. */
  subscribe(subscriber: (event: LoggedEvent) => void): () => void {
    // A wrapper of its own, so that the same function subscribed twice is two subscriptions.
    const own = (event: LoggedEvent): void => subscriber(event);
    this.#subscribers.add(own);
    return () => {
      this.#subscribers.delete(own);
    };
  }

  #range(after: number): LoggedEvent[] {
    const events: LoggedEvent[] = [];
    for (let sequence = after; sequence < this.#sequence; sequence++) {
      const event = this.#ring[sequence % this.#capacity];
      if (event !== undefined) events.push(event);
    }
    return events;
  }

  #tell(subscriber: (event: LoggedEvent) => void, event: LoggedEvent): void {
    try {
      subscriber(event);
    } catch (error) {
      this.#subscribers.delete(subscriber);
      this.#onSubscriberError?.(error);
    }
  }
}

function cutFields(fields: object): Record<string, unknown> {
  const cut: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    const isLong = typeof value === 'string' && value.length > MAX_FIELD_LENGTH;
    cut[key] = isLong ? `${value.slice(0, MAX_FIELD_LENGTH)}...` : value;
  }
  return cut;
}
