/** What the watching thread and the fuzzing one tell each other. */

/** What the thread is given. */
export interface FuzzTask {
  readonly seed: number;
  readonly milliseconds: number;
  /** First word: inputs so far, modulo 2^32. Second: length of the current one. Then its octets. */
  readonly current: SharedArrayBuffer;
}

/** What it says at its end. */
export interface FuzzReport {
  readonly inputs: number;
  readonly batches: number;
  readonly read: number;
  readonly refused: number;
  /** MiB of heap after a collection, near the beginning and at the end. */
  readonly heap: readonly [first: number, last: number];
  readonly finding: string | undefined;
}

/** Octets of the current input that are shown when it never ends. */
export const currentSize = 140_000;
