import type { Clock } from '@bgp-lb/protocol/node';
import type { HaproxyFiles, HaproxyTexts } from './haproxy-files.ts';
import type { HaproxyProcess } from './haproxy-process.ts';
import { RunTimeError } from './run-time-client.ts';

/**
 * What HAProxy refused once is offered again after so long (ms): each reload that fails counts for `mworker-max-reloads`, which in the
 * end kills the workers that serve.
 */
const RETRY = 30_000;

/** What HAProxy refused. */
interface Refusal {
  /** What is offered again only after `until`. */
  readonly what: string;
  /** Monotonic ms. */
  readonly until: number;
  readonly error: Error;
}

export interface ConfigDeliveryOptions {
  readonly haproxy: Pick<HaproxyProcess, 'reload'>;
  readonly files: Pick<HaproxyFiles, 'config' | 'write' | 'writeState'>;
  readonly clock: Clock;
  /** As they are to be at the moment; none: as they are. */
  readonly texts: () => HaproxyTexts | undefined;
  /** The files are not as wanted, in words, or are again. */
  readonly onFault: (fault: string | undefined) => void;
  /** HAProxy was asked for a reload. @param took ms; @param error why there was none, in words */
  readonly onReload: (took: number, error: string | undefined) => void;
}

/**
 * Brings the configuration to HAProxy: on disk for a start of its own, and by reloads. One thing at a time, since a reload leaves a
 * state in the file that is good for this reload only.
 */
export class ConfigDelivery {
  readonly #options: ConfigDeliveryOptions;
  #last: Promise<unknown> = Promise.resolve();
  #written = '';
  #refusedFile: Refusal | undefined;
  #refusedReload: Refusal | undefined;

  constructor(options: ConfigDeliveryOptions) {
    this.#options = options;
  }

  /** Puts the files in place; a failure is told by `onFault`. */
  write(): Promise<void> {
    return this.#next(() => this.#put().catch(() => undefined));
  }

  /**
   * Puts the files in place and has HAProxy take them.
   * @param identity of the configuration, the members aside
   * @throws Error when it does not, and for a while after that at once
   */
  reload(identity: string): Promise<void> {
    const { haproxy, files, clock, texts, onReload } = this.#options;
    return this.#next(async () => {
      await this.#put();
      const refused = this.#refusedReload;
      if (refused?.what === identity && clock.now() < refused.until) throw refused.error;
      this.#refusedReload = undefined;
      const begun = clock.now();
      try {
        await haproxy.reload(files, () => texts()?.state, identity);
        onReload(clock.now() - begun, undefined);
      } catch (error) {
        // Without a master there was no attempt.
        const isTried = !(error instanceof RunTimeError && error.reason === 'absent');
        if (isTried) {
          this.#refusedReload = this.#refusal(identity, error);
          onReload(clock.now() - begun, this.#refusedReload.error.message);
        }
        throw error;
      } finally {
        this.#written = '';
      }
    });
  }

  /** Until all that was asked for is done. */
  async settled(): Promise<void> {
    await this.#last;
  }

  #next(task: () => Promise<void>): Promise<void> {
    const done = this.#last.then(task);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #put(): Promise<void> {
    const { files, clock, onFault } = this.#options;
    const texts = this.#options.texts();
    if (texts === undefined) return;
    const all = JSON.stringify(texts);
    if (all === this.#written && files.config === texts.config) return;
    const refused = this.#refusedFile;
    if (refused?.what === all && clock.now() < refused.until) throw refused.error;
    try {
      await files.write(texts);
      this.#written = all;
      this.#refusedFile = undefined;
      onFault(undefined);
    } catch (error) {
      this.#refusedFile = this.#refusal(all, error);
      onFault(this.#refusedFile.error.message);
      throw error;
    }
  }

  #refusal(what: string, error: unknown): Refusal {
    return {
      what,
      until: this.#options.clock.now() + RETRY,
      error: error instanceof Error ? error : new Error(String(error)),
    };
  }
}
