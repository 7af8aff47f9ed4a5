import { randomInt } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { type BfdDiscardReason, type BfdKey, bfdDiscardReasons } from '../index.ts';
import { BfdClient } from './bfd-client.ts';
import { threadClock } from './bfd-clock.ts';
import type { BfdScheduling, BfdSessionOptions, BfdStateChange, BfdStatus, BfdTiming } from './bfd-status.ts';
import type { Clock } from './clock.ts';

/** `workerData` of the BFD thread: by this the program that starts itself as the worker knows what to be. */
export const BFD_WORKER: string = 'bgp-lb-bfd';

/** What the owner of a BFD thread hears, on the main thread. */
export interface BfdThreadHandlers {
  /** The thread runs, scheduled like this. Comes once more when its start is over, and again after `failed`. */
  started?(scheduling: BfdScheduling): void;
  /** In the order in which it happened; `change.at` is when, by `threadClock`, however late this is called. */
  changed(change: BfdStateChange): void;
  /** The session is gone: the peer knows that it is no failure, or its time to learn it is over. */
  removed?(id: string): void;
  /** A request about a session could not be carried out: the message names what and why. */
  refused(id: string, message: string): void;
  /**
   * The thread died. It is started again, and all sessions begin again in Down: nothing is known of the neighbors
   * meanwhile, so this is no failure of theirs.
   */
  failed(error: Error): void;
}

export interface BfdThreadOptions {
  /**
   * The program's file, which calls `runBfdWorker` first of all when it finds itself with `BFD_WORKER`; or the text of a
   * CommonJS program, for an executable that has no files.
   */
  readonly entry: URL | string;
  readonly handlers: BfdThreadHandlers;
  /** For the wait between restarts. `threadClock` by default. */
  readonly clock?: Clock;
}

/** What of a session must be said again to a new worker. */
interface Wanted {
  options: BfdSessionOptions;
  isAdminDown: boolean;
  /** What both ends have agreed on. */
  key: BfdKey | undefined;
}

/** A thread that lives. */
interface Running {
  readonly worker: Worker;
  readonly client: BfdClient;
  readonly startedAt: number;
}

/** Sessions are some kB each; the worker's own code needs about 4 MB. More than this is a leak. */
const heapLimits = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 } as const;

const noDiscards = Object.fromEntries(bfdDiscardReasons.map((reason) => [reason, 0])) as Record<
  BfdDiscardReason,
  number
>;

/** bfd.XmitAuthSeq of a session, random at first, in memory that every thread of it sees. */
function sharedSequence(): Uint32Array {
  const sequence = new Uint32Array(new SharedArrayBuffer(4));
  sequence[0] = randomInt(0x1_0000_0000);
  return sequence;
}

/** The wait before the thread is started again, in ms: doubled with each death soon after the start. */
const restartDelay = { first: 100, longest: 10_000 } as const;
/** A thread that lived so long died of something new, in ms. */
const provenAfter = 60_000;
/** The longest farewell of `BfdEngine`, and some time for a thread that is busy, in ms. */
const stopLimit = 4000;

/**
 * BFD sessions in a thread of their own, which is started with the first session and started again when it dies.
 * It keeps no process alive.
 *
 * A program that gives this thread a real-time priority should be started by `node --single-threaded-gc`: otherwise V8 has
 * the thread wait for ordinary ones in each collection of garbage, partly by spinning.
 */
export class BfdThread {
  readonly #options: BfdThreadOptions;
  readonly #clock: Clock;
  readonly #wanted = new Map<string, Wanted>();
  /** Sessions that are being taken down. */
  readonly #leaving = new Set<string>();
  #running: Running | undefined;
  #deaths = 0;
  #lastError: Error | undefined;
  #cancelRestart: (() => void) | undefined;
  #isStopped = false;

  constructor(options: BfdThreadOptions) {
    this.#options = options;
    this.#clock = options.clock ?? threadClock;
  }

  /** How the thread is scheduled; `undefined` while there is none. */
  get scheduling(): BfdScheduling | undefined {
    return this.#running?.client.scheduling;
  }

  /** Begins a session. `refused` follows for a name or a neighbor that has one. */
  add(options: BfdSessionOptions): void {
    if (this.#isStopped) return;
    const session = { ...options, sequence: options.sequence ?? sharedSequence() };
    if (!this.#wanted.has(options.id)) {
      this.#wanted.set(options.id, { options: session, isAdminDown: false, key: undefined });
    }
    if (this.#running !== undefined) this.#running.client.add(session);
    else if (this.#cancelRestart === undefined) this.#start();
  }

  /** Ends a session, telling the peer that it is not death. `removed` follows. */
  remove(id: string): void {
    if (!this.#wanted.delete(id)) return;
    if (this.#running === undefined) {
      this.#options.handlers.removed?.(id);
      return;
    }
    this.#leaving.add(id);
    this.#running.client.remove(id);
  }

  /** Changes the intervals of a session, without an interruption. */
  change(id: string, timing: BfdTiming): void {
    const wanted = this.#wanted.get(id);
    if (wanted !== undefined) wanted.options = { ...wanted.options, ...timing };
    this.#running?.client.change(id, timing);
  }

  /** Both ends of a session with negotiated authentication have agreed on a key, or what they agreed on has ended. */
  authenticate(id: string, key: BfdKey | undefined): void {
    const wanted = this.#wanted.get(id);
    if (wanted === undefined) return;
    wanted.key = key;
    this.#running?.client.authenticate(id, key);
  }

  /** Holds a session in AdminDown, or lets it begin again. */
  setAdminDown(id: string, isDown: boolean): void {
    const wanted = this.#wanted.get(id);
    if (wanted !== undefined) wanted.isAdminDown = isDown;
    this.#running?.client.setAdminDown(id, isDown);
  }

  /** Rejects while the thread is dead. Without any session so far there is none, and nothing to tell. */
  status(): Promise<BfdStatus> {
    if (this.#running !== undefined) return this.#running.client.status();
    if (this.#lastError !== undefined) return Promise.reject(this.#lastError);
    const receive = { discarded: { ...noDiscards }, missing: [] };
    return Promise.resolve({ at: this.#clock.now(), sessions: [], receive });
  }

  /**
   * Ends all sessions so that no peer takes it for death, and then the thread. Resolves when that is done, within
   * some seconds.
   */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelRestart?.();
    this.#wanted.clear();
    const running = this.#running;
    if (running === undefined) return;
    running.worker.ref();
    let cancel: () => void = () => undefined;
    const limit = new Promise<void>((resolve) => {
      cancel = this.#clock.after(stopLimit, resolve);
    });
    await Promise.race([running.client.stop(), limit]);
    cancel();
    await running.worker.terminate();
  }

  #start(): void {
    this.#cancelRestart = undefined;
    this.#lastError = undefined;
    // The next call starts it.
    if (this.#wanted.size === 0) return;
    const { entry, handlers } = this.#options;
    const worker = new Worker(entry, {
      eval: typeof entry === 'string',
      workerData: BFD_WORKER,
      name: 'bfd',
      resourceLimits: heapLimits,
    });
    worker.unref();
    const client = new BfdClient(worker, {
      ready: (scheduling) => handlers.started?.(scheduling),
      changed: (change) => handlers.changed(change),
      removed: (id) => {
        this.#leaving.delete(id);
        handlers.removed?.(id);
      },
      refused: (id, message) => handlers.refused(id, message),
    });
    let cause: Error | undefined;
    worker.on('error', (error: unknown) => {
      cause = error instanceof Error ? error : new Error(String(error));
    });
    worker.on('exit', (code) => {
      client.lost();
      this.#ended(cause ?? new Error(`the BFD worker ended with exit code ${code}`));
    });
    this.#running = { worker, client, startedAt: this.#clock.now() };
    for (const [id, { options, isAdminDown, key }] of this.#wanted) {
      client.add(options);
      if (key !== undefined) client.authenticate(id, key);
      if (isAdminDown) client.setAdminDown(id, true);
    }
  }

  #ended(error: Error): void {
    const livedFor = this.#clock.now() - (this.#running?.startedAt ?? 0);
    this.#running = undefined;
    const leaving = [...this.#leaving];
    this.#leaving.clear();
    if (this.#isStopped) return;
    this.#lastError = error;
    this.#deaths = livedFor >= provenAfter ? 1 : this.#deaths + 1;
    const delay = Math.min(restartDelay.longest, restartDelay.first * 2 ** (this.#deaths - 1));
    this.#cancelRestart = this.#clock.after(delay, () => this.#start());
    for (const id of leaving) this.#options.handlers.removed?.(id);
    this.#options.handlers.failed(error);
  }
}

/**
 * How a BFD thread is scheduled, for logs and status: `SCHED_FIFO 10`, `nice -15 (sched_setscheduler: EPERM)`,
 * `ordinary (sched_setscheduler: EPERM; setpriority: EACCES)`.
 */
export function schedulingText({ policy, value, refusals }: BfdScheduling): string {
  const got = policy === 'fifo' ? `SCHED_FIFO ${value}` : policy === 'nice' ? `nice ${value}` : 'ordinary';
  return refusals.length === 0 ? got : `${got} (${refusals.map(({ message }) => message).join('; ')})`;
}
