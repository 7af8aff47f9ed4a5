import type { Clock, KubernetesObject } from '@bgp-lb/kubernetes';
import { STALE_AFTER } from '../core/provider-view.ts';
import { textAt } from '../core/read-json.ts';
import type { SeenInstance } from '../core/snapshot.ts';

export interface InstanceSilenceOptions {
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly wallClock: () => number;
  /** An LB host counts no more, or counts again, although it says the same. */
  readonly turned: (key: string) => void;
}

interface Heard {
  readonly heartbeat: string | undefined;
  /** Monotonic milliseconds. */
  readonly at: number;
  cancel: () => void;
}

/**
 * For how long LB hosts have not been heard. Counted by our own clock from when a heartbeat was seen to change, so that a clock of an
 * LB host that is wrong does not matter; the time in the first one that is seen counts until then.
 */
export class InstanceSilence {
  readonly #options: InstanceSilenceOptions;
  readonly #heard = new Map<string, Heard>();

  constructor(options: InstanceSilenceOptions) {
    this.#options = options;
  }

  note(key: string, object: KubernetesObject): void {
    const { clock, wallClock, turned } = this.#options;
    const heartbeat = textAt(object, 'status', 'heartbeat');
    const before = this.#heard.get(key);
    if (before?.heartbeat === heartbeat && before !== undefined) return;
    const now = clock.now();
    const age =
      heartbeat === undefined ? Number.POSITIVE_INFINITY : Math.max(0, wallClock() - Date.parse(heartbeat));
    // One that changes is alive now, whatever it says.
    const next: Heard = {
      heartbeat,
      at: before === undefined ? now - age : now,
      cancel: () => undefined,
    };
    before?.cancel();
    this.#heard.set(key, next);
    // By the time, not by whether its timer has come: a decision may have been made between the two.
    const wasLive = before !== undefined && now - before.at < STALE_AFTER;
    const isLive = now - next.at < STALE_AFTER;
    if (isLive) this.#watch(key, next);
    if (before !== undefined && isLive !== wasLive) turned(key);
  }

  forget(key: string): void {
    this.#heard.get(key)?.cancel();
    this.#heard.delete(key);
  }

  close(): void {
    for (const key of [...this.#heard.keys()]) this.forget(key);
  }

  seen(key: string, object: KubernetesObject): SeenInstance {
    const at = this.#heard.get(key)?.at ?? Number.NEGATIVE_INFINITY;
    return { object, silentMs: this.#options.clock.now() - at };
  }

  #watch(key: string, heard: Heard): void {
    const { clock, turned } = this.#options;
    const left = heard.at + STALE_AFTER - clock.now();
    heard.cancel = clock.after(left, () => {
      // A timer may come a little early.
      if (clock.now() - heard.at < STALE_AFTER) this.#watch(key, heard);
      else turned(key);
    });
  }
}
