/** One thing between the clients of a VIP and an API server. */
export interface Reason {
  /** `member 10.0.0.11`, `upstream tor`. */
  readonly what: string;
  readonly pass: boolean;
  /** Milliseconds that it has been so; `null` when that is not known. */
  readonly sinceMs: number | null;
  readonly reason: string;
  /** What changes it; empty for what is good. */
  readonly next: string;
}
