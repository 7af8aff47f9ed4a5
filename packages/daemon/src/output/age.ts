import { formatDuration } from '../config/duration.ts';

/** A time that has passed, for a column of a table: `350ms`, and whole seconds from a second on, `12s`. @param ms milliseconds */
export function age(ms: number): string {
  return formatDuration(ms < 1000 ? Math.round(ms) : Math.round(ms / 1000) * 1000);
}
