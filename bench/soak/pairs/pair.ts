/**
 * A pair: two ends of one implementation with all sessions between them. Whichever end stalls, the other one's alarm
 * is the fault of this implementation or of the machine, never of another daemon.
 */

/** The implementations, ours first. */
export const pairNames = ['bgp-lb', 'FRR', 'BIRD'] as const;

/** An implementation. */
export type PairName = (typeof pairNames)[number];

/** How the daemons run. */
export interface PairOptions {
  readonly sessions: number;
  /** ms, in both directions; the multiplier is 3. */
  readonly interval: number;
  /**
   * `as-shipped`: ours asks for SCHED_FIFO, FRR has `Nice=-5` and BIRD nothing, as Debian's units run them. `ordinary`:
   * ours asks for nothing. `all-fifo`: SCHED_FIFO 10 for all three.
   */
  readonly scheduling: 'as-shipped' | 'ordinary' | 'all-fifo';
}

/** A pair that runs. */
export interface Pair {
  readonly name: PairName;
  /** How its BFD thread or process is scheduled, in words. */
  readonly scheduling: string;
  /** The process of one end. */
  readonly pid: number;
  /** Waits until all sessions are up at both ends. */
  allUp(): Promise<void>;
  /** How often an end of a session left Up so far; a session that fails is told of by both of its ends. */
  alarms(): Promise<number>;
  stop(): Promise<void>;
}

/** The Detection Time in ms. */
export function detectionTime({ interval }: PairOptions): number {
  return 3 * interval;
}
