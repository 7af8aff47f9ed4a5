/** Runs something when everything that this turn of the event loop brings was handled; returns what cancels it. */
export type AfterTurn = (run: () => void) => () => void;

const afterTurn: AfterTurn = (run) => {
  const immediate = setImmediate(run);
  return () => clearImmediate(immediate);
};

/**
 * VIPs of which something is not as it was. However many events of one turn of the event loop touch a VIP, it is announced once, at
 * the end of the turn: a death that BFD, the kernel and the pool see is one UPDATE.
 */
export class TouchedVips {
  readonly #announce: (vips: readonly string[]) => void;
  readonly #afterTurn: AfterTurn;
  readonly #touched = new Set<string>();
  #cancel: (() => void) | undefined;
  #isClosed = false;

  /** @param announce says how these VIPs (`10.100.0.1/32`) are by then */
  constructor(announce: (vips: readonly string[]) => void, after: AfterTurn = afterTurn) {
    this.#announce = announce;
    this.#afterTurn = after;
  }

  touch(...vips: readonly string[]): void {
    if (this.#isClosed) return;
    for (const vip of vips) {
      this.#touched.add(vip);
    }
    this.#cancel ??= this.#afterTurn(() => this.flush());
  }

  /** Announces what is due at once. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const due = [...this.#touched];
    this.#touched.clear();
    if (due.length > 0) this.#announce(due);
  }

  /** Nothing is announced any more. */
  close(): void {
    this.#isClosed = true;
    this.#touched.clear();
    this.#cancel?.();
  }
}
