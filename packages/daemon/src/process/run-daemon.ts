import type { Logger } from 'pino';
import { ExitCode, exitCodeOf, failureText } from './exit-code.ts';

/** A daemon that runs. */
export interface RunningDaemon {
  /** Leaves in order. The signal tells why: SIGTERM or SIGINT. */
  stop(signal: NodeJS.Signals): Promise<void>;
  /** A second signal while it stops: what is waited for is waited for no more. Without it, and at a third, the process ends at once. */
  hurry?(): void;
  /** Takes the configuration again, on SIGHUP. A rejection is logged, and the old configuration stays. */
  reload?(): Promise<void>;
  /** Rejects with what keeps it from its work although its event loop turns, and stays pending while it waits for an answer: see `watchdogTime`. */
  checkWell?(): Promise<void>;
}

/** What `runDaemon` needs. */
export interface RunDaemonOptions {
  readonly name: string;
  start(): Promise<RunningDaemon>;
  readonly logger: Logger;
  /** Tells the service manager, by lines of sd_notify(3), where there is one. */
  readonly notify?: ((state: string) => void) | undefined;
  /**
   * Milliseconds within which `WATCHDOG=1` is wanted (sd_watchdog_enabled(3)). It is sent four times as often, while the event loop
   * turns and `checkWell` resolves: a part that is started again has most of that time.
   */
  readonly watchdogTime?: number | undefined;
  /** How long `stop` may take; 90 s by default, the time that systemd waits before it kills (TimeoutStopSec). */
  readonly stopTimeoutMs?: number;
}

const DEFAULT_STOP_TIMEOUT_MS = 90_000;

/**
 * From the end of one reload to the next at least (ms): a reload holds up everything else of its thread, and signals may come
 * for ever.
 */
const RELOAD_GAP_MS = 1000;

/** 128 + signal number, as shells report a death by signal. */
const SIGNAL_EXIT: Partial<Record<NodeJS.Signals, number>> = { SIGINT: 130, SIGTERM: 143 };

/**
 * Runs a daemon for the rest of the process and ends the process with it. Exit codes: 0 stopped in order; 1 failed to start, failed
 * or took too long to stop, or hit a programming error; 2 a configuration error; 130 and 143 one signal too many.
 *
 * An exception that was not caught ends the process: its state can no longer be trusted, the kernel goes on forwarding without it,
 * and the supervisor's restart adopts what is there.
 */
export function runDaemon(options: RunDaemonOptions): Promise<never> {
  const { name, logger } = options;
  const fatal = (error: unknown, what: string): void => {
    logger.fatal(
      { err: asError(error) },
      `${name}: ${what}; the process ends so that its supervisor restarts it`,
    );
    exitAfterFlush(logger, ExitCode.Failed);
  };
  process.on('uncaughtException', (error) => fatal(error, 'uncaught exception'));
  process.on('unhandledRejection', (reason) => fatal(reason, 'unhandled rejection'));

  const lifecycle = new Lifecycle(options);
  process.on('SIGTERM', () => lifecycle.stopSignal('SIGTERM'));
  process.on('SIGINT', () => lifecycle.stopSignal('SIGINT'));
  process.on('SIGHUP', () => lifecycle.reloadSignal());
  return lifecycle.run();
}

class Lifecycle {
  readonly #options: RunDaemonOptions;
  #daemon: RunningDaemon | undefined;
  #stopSignal: NodeJS.Signals | undefined;
  #isHurried = false;
  #wantsReload = false;
  /** One is due or under way. */
  #isReloading = false;
  #lastReloadEnd = Number.NEGATIVE_INFINITY;
  #isBeingChecked = false;
  /** Why the watchdog was last not told. */
  #ailment: string | undefined;

  constructor(options: RunDaemonOptions) {
    this.#options = options;
  }

  async run(): Promise<never> {
    const { name, logger, start } = this.#options;
    try {
      this.#daemon = await start();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      logger.fatal({ err: asError(error) }, `${name} did not start: ${why}`);
      const code = exitCodeOf(error);
      // A fault of the configuration is for the person who starts the daemon: lines and carets are unreadable within JSON.
      if (code === ExitCode.Usage) process.stderr.write(`${failureText(error)}\n`);
      exitAfterFlush(logger, code);
      return new Promise<never>(() => undefined);
    }
    logger.info(`${name} started`);
    this.#notify('READY=1');
    this.#watch();
    // A signal may have come while it started.
    if (this.#stopSignal !== undefined) this.#stop(this.#stopSignal);
    else if (this.#wantsReload) this.reloadSignal();
    return new Promise<never>(() => undefined);
  }

  /** The first signal stops in order, the second makes a daemon hurry that can, and one more ends the process at once. */
  stopSignal(signal: NodeJS.Signals): void {
    const { name, logger } = this.#options;
    if (this.#stopSignal !== undefined) {
      const hurry = this.#isHurried ? undefined : this.#daemon?.hurry?.bind(this.#daemon);
      if (hurry !== undefined) {
        this.#isHurried = true;
        logger.warn(`${name}: second signal (${signal}), stopping without waiting`);
        hurry();
        return;
      }
      logger.warn(`${name}: one more signal (${signal}), ending at once`);
      exitAfterFlush(logger, SIGNAL_EXIT[signal] ?? ExitCode.Failed);
      return;
    }
    this.#stopSignal = signal;
    logger.info({ signal }, `${name} is stopping`);
    this.#stop(signal);
  }

  #stop(signal: NodeJS.Signals): void {
    const { name, logger, stopTimeoutMs = DEFAULT_STOP_TIMEOUT_MS } = this.#options;
    const daemon = this.#daemon;
    if (daemon === undefined) return;
    this.#notify('STOPPING=1');
    setTimeout(() => {
      logger.error(`${name} did not stop within ${stopTimeoutMs} ms; ending it`);
      exitAfterFlush(logger, ExitCode.Failed);
    }, stopTimeoutMs);
    daemon.stop(signal).then(
      () => {
        logger.info(`${name} stopped`);
        exitAfterFlush(logger, ExitCode.Good);
      },
      (error: unknown) => {
        logger.error({ err: asError(error) }, `${name} failed to stop in order`);
        exitAfterFlush(logger, ExitCode.Failed);
      },
    );
  }

  /** Reloads one after another; any number of signals until one begins make that one, and any number during it make one more. */
  reloadSignal(): void {
    this.#wantsReload = true;
    if (this.#daemon === undefined || this.#isReloading) return;
    this.#isReloading = true;
    const wait = this.#lastReloadEnd + RELOAD_GAP_MS - performance.now();
    // Signals that wait in the pipe are delivered in one turn of the event loop, which a reload for each of them would keep from ending.
    if (wait <= 0) setImmediate(() => this.#reload());
    else setTimeout(() => this.#reload(), wait);
  }

  #reload(): void {
    const { name, logger } = this.#options;
    this.#wantsReload = false;
    const reload = this.#daemon?.reload?.bind(this.#daemon);
    if (reload === undefined) logger.warn(`${name} cannot reload`);
    if (reload === undefined || this.#stopSignal !== undefined) {
      this.#reloaded();
      return;
    }
    // systemd takes only what begins after it asked: the clock is CLOCK_MONOTONIC, as Node's is.
    this.#notify(`RELOADING=1\nMONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
    reload()
      .then(
        () => logger.info(`${name} reloaded`),
        (error: unknown) =>
          logger.error({ err: asError(error) }, `${name} did not reload: the old configuration stays`),
      )
      .finally(() => {
        if (this.#stopSignal === undefined) this.#notify('READY=1');
        this.#reloaded();
      });
  }

  #reloaded(): void {
    this.#lastReloadEnd = performance.now();
    this.#isReloading = false;
    if (this.#wantsReload && this.#stopSignal === undefined) this.reloadSignal();
  }

  #notify(state: string): void {
    this.#options.notify?.(state);
  }

  #watch(): void {
    const { watchdogTime } = this.#options;
    if (watchdogTime === undefined) return;
    const look = (): void => void this.#tellWatchdog();
    look();
    setInterval(look, watchdogTime / 4).unref();
  }

  async #tellWatchdog(): Promise<void> {
    if (this.#isBeingChecked) {
      this.#notWell('no answer yet to whether it is well');
      return;
    }
    this.#isBeingChecked = true;
    try {
      // One that is stopping has a time limit of its own, and closes what would be asked.
      if (this.#stopSignal === undefined) await this.#daemon?.checkWell?.();
      this.#ailment = undefined;
      this.#notify('WATCHDOG=1');
    } catch (error) {
      this.#notWell(asError(error).message);
    } finally {
      this.#isBeingChecked = false;
    }
  }

  /** Said once for each cause: it is looked at all the time. */
  #notWell(why: string): void {
    const { name, logger } = this.#options;
    if (this.#ailment === why) return;
    this.#ailment = why;
    logger.error(`${name} is not well, and the watchdog is not told otherwise: ${why}`);
  }
}

/** How long the end of the process may wait for the reader of the log. */
const FLUSH_TIMEOUT_MS = 500;

/** Ends the process once the last words are written. An exit at once would lose or reorder lines that are being written. */
function exitAfterFlush(logger: Logger, code: number): void {
  setTimeout(() => process.exit(code), FLUSH_TIMEOUT_MS);
  logger.flush(() => process.exit(code));
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
