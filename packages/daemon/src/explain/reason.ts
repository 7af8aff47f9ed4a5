import { age } from '../output/age.ts';
import type { Table } from '../output/table.ts';

/** One thing between clients and an API server. */
export interface Reason {
  /** `member 10.0.0.11`, `gate bootstrap`, `router 10.0.0.10`. */
  readonly what: string;
  readonly pass: boolean;
  /** Milliseconds that it has been so; `null` when that is not known. */
  readonly sinceMs: number | null;
  readonly reason: string;
  /** What changes it; empty for what is good. */
  readonly next: string;
}

/** Those that keep clients away first, each in the order in which it came. */
export function badFirst(reasons: readonly Reason[]): readonly Reason[] {
  return [...reasons.filter(({ pass }) => !pass), ...reasons.filter(({ pass }) => pass)];
}

/** Reasons for people. */
export function reasonsTable(reasons: readonly Reason[]): Table {
  return {
    columns: ['DEPENDS ON', 'GOOD', 'FOR', 'BECAUSE', 'WHAT CHANGES IT'],
    rows: reasons.map(({ what, pass, sinceMs, reason, next }) => [
      what,
      pass,
      sinceMs === null ? undefined : age(sinceMs),
      reason,
      next,
    ]),
  };
}
