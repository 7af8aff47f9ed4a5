import type { Clock } from '@bgp-lb/protocol/node';
import type { NameLookup } from './name-lookup.ts';

/** Seconds between two questions for a name whose answer says no TTL (/etc/hosts), and after one that failed. */
const INTERVAL = 30;
/** Seconds: a shorter TTL would ask without a pause, a longer one would not see a change for hours. */
const [SHORTEST, LONGEST] = [5, 3_600];

export interface NameWatchOptions {
  readonly name: string;
  readonly family: 4 | 6;
  readonly lookup: NameLookup;
  readonly clock: Clock;
  /** What was known before a restart. */
  readonly addresses: readonly string[];
  readonly changed: () => void;
}

/** Follows the addresses of one name. The last good answer stays, whatever fails. */
export class NameWatch {
  readonly #options: NameWatchOptions;
  #addresses: readonly string[];
  #answeredAt: number | undefined;
  #problem = '';
  #cancel: () => void = () => undefined;
  #isClosed = false;

  constructor(options: NameWatchOptions) {
    this.#options = options;
    this.#addresses = options.addresses;
  }

  get addresses(): readonly string[] {
    return this.#addresses;
  }

  /** Why the addresses may be old; empty while they are not. */
  get problem(): string {
    return this.#problem;
  }

  /** Monotonic milliseconds of the last good answer of this run. */
  get answeredAt(): number | undefined {
    return this.#answeredAt;
  }

  start(): void {
    void this.#ask();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  async #ask(): Promise<void> {
    const { name, family, lookup, clock, changed } = this.#options;
    const before = `${this.#addresses.join()} ${this.#problem}`;
    let seconds = INTERVAL;
    try {
      const { addresses, ttl } = await lookup(name, family);
      if (ttl !== undefined) seconds = Math.min(LONGEST, Math.max(SHORTEST, ttl));
      this.#addresses = addresses;
      this.#answeredAt = clock.now();
      this.#problem = '';
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
      seconds = this.#addresses.length === 0 ? SHORTEST : INTERVAL;
    }
    if (this.#isClosed) return;
    this.#cancel = clock.after(seconds * 1_000, () => void this.#ask());
    if (`${this.#addresses.join()} ${this.#problem}` !== before) changed();
  }
}
