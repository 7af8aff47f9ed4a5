/** Where time comes from. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Calls `fire` once after `ms` milliseconds, unless the returned function is called before. */
  after(ms: number, fire: () => void): () => void;
}
