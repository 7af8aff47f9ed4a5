import { ControlStream } from './control-route.ts';
import type { EventLog } from './event-log.ts';

/** Between two snapshots while nothing happens, in milliseconds. */
const PERIOD = 1000;
/** What happens at once is one snapshot: it is taken so long after the first of it. */
const SETTLE = 50;
/** The least time between two snapshots: of a storm of events a page shows four pictures a second. */
const LEAST = 250;

export interface SnapshotStreamOptions {
  readonly take: () => Promise<unknown>;
  readonly events: Pick<EventLog, 'subscribe'>;
  /** A snapshot that could not be taken; the next one is tried. */
  readonly onError: (error: unknown) => void;
}

/**
 * Server-sent events of snapshots (HTML standard, "Server-sent events"): one each second, and one soon after each event of the log.
 * Each snapshot is taken once for all that listen, and none while no one does.
 */
export class SnapshotStream {
  readonly #options: SnapshotStreamOptions;
  readonly #clients = new Set<(bytes: Uint8Array) => void>();
  #timer: NodeJS.Timeout | undefined;
  #dueAt = 0;
  #lastAt = Number.NEGATIVE_INFINITY;
  #isTaking = false;
  #unsubscribe: (() => void) | undefined;

  constructor(options: SnapshotStreamOptions) {
    this.#options = options;
  }

  /** An answer for one client. */
  open(): ControlStream {
    return new ControlStream('text/event-stream; charset=utf-8', (write) => {
      this.#clients.add(write);
      // A browser tries again after so many milliseconds when the router restarts.
      write(encode('retry: 1000\n\n'));
      this.#unsubscribe ??= this.#options.events.subscribe(() => this.#schedule(SETTLE));
      this.#schedule(0);
      return () => {
        this.#clients.delete(write);
        if (this.#clients.size === 0) this.#stop();
      };
    });
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  /** The next snapshot comes within `delay`, and not sooner than `LEAST` after the last. */
  #schedule(delay: number): void {
    if (this.#clients.size === 0 || this.#isTaking) return;
    const now = performance.now();
    const dueAt = Math.max(now + delay, this.#lastAt + LEAST);
    if (this.#timer !== undefined && this.#dueAt <= dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => void this.#send(), dueAt - now).unref();
  }

  async #send(): Promise<void> {
    this.#timer = undefined;
    this.#isTaking = true;
    this.#lastAt = performance.now();
    try {
      const bytes = encode(`event: snapshot\ndata: ${JSON.stringify(await this.#options.take())}\n\n`);
      for (const write of [...this.#clients]) write(bytes);
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#isTaking = false;
      this.#schedule(PERIOD);
    }
  }
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
