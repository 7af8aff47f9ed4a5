import type { KubernetesObject } from '@bgp-lb/kubernetes';
import { textAt } from '../core/read-json.ts';
import type { SeenInstance } from '../core/snapshot.ts';

/**
 * For how long LB hosts have not been heard. Counted by our own clock from when a heartbeat was seen to change, so that a clock of an
 * LB host that is wrong does not matter; the time in the first one that is seen counts until then.
 */
export class InstanceSilence {
  readonly #heard = new Map<string, { readonly heartbeat: string | undefined; readonly at: number }>();

  /** @param now monotonic milliseconds @param wallClock milliseconds since 1970 */
  note(key: string, object: KubernetesObject, now: number, wallClock: number): void {
    const heartbeat = textAt(object, 'status', 'heartbeat');
    const before = this.#heard.get(key);
    if (before?.heartbeat === heartbeat && before !== undefined) return;
    const age =
      heartbeat === undefined ? Number.POSITIVE_INFINITY : Math.max(0, wallClock - Date.parse(heartbeat));
    // One that changes is alive now, whatever it says.
    this.#heard.set(key, { heartbeat, at: before === undefined ? now - age : now });
  }

  forget(key: string): void {
    this.#heard.delete(key);
  }

  seen(key: string, object: KubernetesObject, now: number): SeenInstance {
    return { object, silentMs: now - (this.#heard.get(key)?.at ?? Number.NEGATIVE_INFINITY) };
  }
}
