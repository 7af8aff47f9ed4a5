import type { Clock } from '@bgp-lb/protocol/node';
import type { KeepalivedFiles } from './keepalived-files.ts';

/** What keepalived refused once is offered again after so long (ms). */
const RETRY = 10_000;
/** Between two reloads (ms): a backup waits for three advertisements, and while keepalived reloads it sends none. */
const RELOAD_GAP = 3_000;

export interface ConfigDeliveryOptions {
  readonly files: Pick<KeepalivedFiles, 'config' | 'write' | 'isReloadDue' | 'setReloaded'>;
  readonly clock: Pick<Clock, 'now'>;
  /** The process id of keepalived while it runs. */
  pid(): number | undefined;
  /** SIGHUP. @throws Error */
  reload(pid: number): void;
}

/** Brings the configuration of keepalived to its place, and has keepalived take it. */
export class ConfigDelivery {
  readonly #options: ConfigDeliveryOptions;
  #isWriting = false;
  #refused: { readonly config: string; readonly until: number } | undefined;
  #fault = '';
  #isReloadDue: boolean;
  #reloadedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ConfigDeliveryOptions) {
    this.#options = options;
    // Another life of ours may have written and not reloaded; or it has, a moment ago, and there is a gap to keep.
    this.#isReloadDue = options.files.isReloadDue;
    if (this.#isReloadDue) this.#reloadedAt = options.clock.now();
  }

  /** Why it is not as wanted, in words; empty while it is. */
  get fault(): string {
    return this.#fault;
  }

  /** One look: what is wanted is written when it differs, and taken when it is time. */
  look(wanted: string): void {
    const { files, clock, pid, reload } = this.#options;
    if (this.#isWriting) return;
    const now = clock.now();
    if (files.config !== wanted) {
      if (this.#refused?.config === wanted && now < this.#refused.until) return;
      void this.#write(wanted);
      return;
    }
    if (!this.#isReloadDue || now - this.#reloadedAt < RELOAD_GAP) return;
    const running = pid();
    this.#reloadedAt = now;
    try {
      // One that starts reads it.
      if (running !== undefined) reload(running);
    } catch (error) {
      this.#fault = `keepalived cannot be told of its configuration: ${textOf(error)}`;
      return;
    }
    this.#isReloadDue = false;
    this.#fault = '';
    files.setReloaded();
  }

  async #write(wanted: string): Promise<void> {
    const { files, clock } = this.#options;
    this.#isWriting = true;
    try {
      await files.write(wanted);
      this.#refused = undefined;
      this.#fault = '';
      this.#isReloadDue = true;
    } catch (error) {
      this.#fault = textOf(error);
      this.#refused = { config: wanted, until: clock.now() + RETRY };
    } finally {
      this.#isWriting = false;
    }
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
