import type { Clock, KubernetesObject } from '@bgp-lb/kubernetes';
import type { EventText } from '../core/snapshot.ts';

/** As client-go's spam filter: events of one object at once, and milliseconds after which it may have one more. */
const BURST = 25;
const REFILL = 300_000;
/** Objects that are remembered, as client-go does. */
const MOST_OBJECTS = 4_096;
/** Events that wait. */
const MOST_WAITING = 1_000;
/** Milliseconds that what waits still has at the end. */
const LAST = 2_000;

export interface EventSenderOptions {
  readonly clock: Clock;
  readonly send: (about: KubernetesObject, event: EventText) => Promise<void>;
  /** It is not said again: it has happened all the same. */
  readonly failed: (event: EventText, error: unknown) => void;
}

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/** Says events one after another, beside the work that they tell of. */
export class EventSender {
  readonly #options: EventSenderOptions;
  readonly #buckets = new Map<string, Bucket>();
  #waiting: { readonly about: KubernetesObject; readonly event: EventText }[] = [];
  #running: Promise<void> | undefined;
  #isOpen = true;

  constructor(options: EventSenderOptions) {
    this.#options = options;
  }

  say(about: KubernetesObject, events: readonly EventText[]): void {
    if (!this.#isOpen) return;
    for (const event of events) {
      if (!this.#take(about.metadata.uid ?? about.metadata.name)) continue;
      if (this.#waiting.length >= MOST_WAITING)
        this.#options.failed(event, new Error(`${MOST_WAITING} events wait already`));
      else this.#waiting.push({ about, event });
    }
    if (this.#waiting.length > 0) this.#running ??= this.#run();
  }

  /** Says what waits, as far as there is time, and takes no more. */
  async close(): Promise<void> {
    this.#isOpen = false;
    const cancel = this.#options.clock.after(LAST, () => {
      this.#waiting = [];
    });
    await this.#running;
    cancel();
  }

  async #run(): Promise<void> {
    const { send, failed } = this.#options;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      try {
        await send(next.about, next.event);
      } catch (error) {
        failed(next.event, error);
      }
    }
    this.#running = undefined;
  }

  /** Takes a token of the object. Those not asked for the longest are forgotten, which fills their buckets. */
  #take(key: string): boolean {
    const now = this.#options.clock.now();
    const before = this.#buckets.get(key) ?? { tokens: BURST, at: now };
    const tokens = Math.min(BURST, before.tokens + (now - before.at) / REFILL);
    this.#buckets.delete(key);
    this.#buckets.set(key, { tokens: tokens < 1 ? tokens : tokens - 1, at: now });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MOST_OBJECTS && oldest !== undefined) this.#buckets.delete(oldest);
    return tokens >= 1;
  }
}
