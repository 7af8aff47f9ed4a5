/** The part of the browser's EventSource that is used. */
export interface SnapshotSource {
  addEventListener(type: string, listener: (event: { readonly data: string }) => void): void;
  close(): void;
  /** 2 when it has given up. */
  readonly readyState: number;
}

export interface LiveSnapshotsOptions<T> {
  readonly open: () => SnapshotSource;
  readonly onSnapshot: (snapshot: T) => void;
  /** The stream has broken, or no snapshot has come for `SILENCE`. What was shown last is shown on. */
  readonly onLost: () => void;
}

/** A daemon sends a snapshot each second. After so many milliseconds without one it does not answer, whatever TCP says. */
const SILENCE = 3000;
/** Between two attempts once the browser has given up, in milliseconds: it does so at any answer but a stream. */
const RETRY = 1000;

/** Follows a daemon's stream of snapshots for as long as the page is open, through restarts of the daemon. */
export class LiveSnapshots<T> {
  readonly #options: LiveSnapshotsOptions<T>;
  #source: SnapshotSource | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: LiveSnapshotsOptions<T>) {
    this.#options = options;
  }

  start(): void {
    this.#source?.close();
    const source = this.#options.open();
    this.#source = source;
    this.#expect(SILENCE);
    source.addEventListener('snapshot', ({ data }) => {
      this.#expect(SILENCE);
      this.#options.onSnapshot(JSON.parse(data) as T);
    });
    source.addEventListener('error', () => {
      this.#options.onLost();
      if (source.readyState === 2) this.#expect(RETRY);
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
  }

  #expect(within: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#options.onLost();
      this.start();
    }, within);
  }
}
