import type { BfdKey } from '../index.ts';
import type { BfdPort, BfdReport, BfdRequest } from './bfd-message.ts';
import type { BfdScheduling, BfdSessionOptions, BfdStateChange, BfdStatus, BfdTiming } from './bfd-status.ts';

/** What the main thread hears of its BFD sessions. */
export interface BfdClientHandlers {
  /**
   * The worker runs, scheduled like this: for the log, since an ordinary thread may be late for 50 ms x 3. Comes once more
   * when its start is over.
   */
  ready(scheduling: BfdScheduling): void;
  /** In the order in which it happened; `change.at` is when, by `threadClock`, however late this is called. */
  changed(change: BfdStateChange): void;
  /** The session is gone. */
  removed?(id: string): void;
  /** `add`, `change`, `authenticate` or `setAdminDown` could not be done: the message names what and why. */
  refused(id: string, message: string): void;
}

interface Waiting {
  resolve(status: BfdStatus): void;
  reject(error: Error): void;
}

/** The main thread's end of a BFD worker. Nothing here waits for the worker but `status` and `stop`. */
export class BfdClient {
  readonly #port: BfdPort<BfdRequest, BfdReport>;
  readonly #handlers: BfdClientHandlers;
  readonly #waiting = new Map<number, Waiting>();
  #stopping: (() => void)[] = [];
  #lastRequest = 0;
  #isLost = false;
  #scheduling: BfdScheduling | undefined;

  /** @param port the `Worker`, or a `MessagePort` whose other end `runBfdWorker` has */
  constructor(port: BfdPort<BfdRequest, BfdReport>, handlers: BfdClientHandlers) {
    this.#port = port;
    this.#handlers = handlers;
    port.on('message', (report: BfdReport) => this.#take(report));
  }

  /** How the worker is scheduled; `undefined` until it runs. */
  get scheduling(): BfdScheduling | undefined {
    return this.#scheduling;
  }

  /** Begins a session. */
  add(session: BfdSessionOptions): void {
    this.#ask({ type: 'add', session });
  }

  /** Ends a session, telling the peer that it is not death. `removed` follows. */
  remove(id: string): void {
    this.#ask({ type: 'remove', id });
  }

  /** Changes the intervals of a session, without an interruption. */
  change(id: string, timing: BfdTiming): void {
    this.#ask({ type: 'change', id, timing });
  }

  /** Both ends have agreed on a key, or what they agreed on has ended. */
  authenticate(id: string, key: BfdKey | undefined): void {
    this.#ask({ type: 'authenticate', id, key });
  }

  /** Holds a session in AdminDown, or lets it begin again. */
  setAdminDown(id: string, isDown: boolean): void {
    this.#ask({ type: 'admin-down', id, isDown });
  }

  /** Rejects when the worker is gone. */
  status(): Promise<BfdStatus> {
    return new Promise((resolve, reject) => {
      if (this.#isLost) {
        reject(new Error('the BFD worker has ended'));
        return;
      }
      this.#lastRequest += 1;
      this.#waiting.set(this.#lastRequest, { resolve, reject });
      this.#ask({ type: 'status', request: this.#lastRequest });
    });
  }

  /** Ends all sessions as `remove` does; resolves when that is done, within 3 s, or when the worker is gone. */
  stop(): Promise<void> {
    if (this.#isLost) return Promise.resolve();
    return new Promise((resolve) => {
      this.#stopping.push(resolve);
      this.#ask({ type: 'stop' });
    });
  }

  /** To be called when the worker has ended: what waits for it must not wait for ever. */
  lost(): void {
    this.#isLost = true;
    for (const { reject } of this.#waiting.values()) reject(new Error('the BFD worker has ended'));
    this.#waiting.clear();
    this.#stopped();
  }

  #ask(request: BfdRequest): void {
    if (!this.#isLost) this.#port.postMessage(request);
  }

  #take(report: BfdReport): void {
    switch (report.type) {
      case 'ready':
        this.#scheduling = report.scheduling;
        this.#handlers.ready(report.scheduling);
        return;
      case 'changed':
        this.#handlers.changed(report.change);
        return;
      case 'removed':
        this.#handlers.removed?.(report.id);
        return;
      case 'refused':
        this.#handlers.refused(report.id, report.message);
        return;
      case 'status':
        this.#waiting.get(report.request)?.resolve(report.status);
        this.#waiting.delete(report.request);
        return;
      case 'stopped':
        this.#stopped();
        return;
    }
  }

  #stopped(): void {
    const waiting = this.#stopping;
    this.#stopping = [];
    for (const resolve of waiting) resolve();
  }
}
