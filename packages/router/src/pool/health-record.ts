import type { Failure, Health, ProbeVerdict } from './member-view.ts';

/** How many probes in a row change a verdict. */
export interface HealthThresholds {
  readonly rise: number;
  readonly fall: number;
}

/** Mildest first. */
const severity = ['soft', 'unreachable', 'refused'] as const;

/**
 * The health of one member from its probes, with hysteresis: `rise` good ones in a row pass it, `fall` bad ones
 * in a row fail it. A run of `fall` refused ones is a refusal, a mixture counts as its mildest. A failure gets
 * worse by itself but never milder: what was refused comes back only by passing.
 */
export class HealthRecord {
  readonly #read: () => HealthThresholds;
  #failure: Failure | undefined;
  #recent: ('good' | Failure)[] = [];
  #hasPassed = false;
  #answersInARow = 0;
  #acceptedInARow = 0;
  #silentInARow = 0;
  #hasAnswered = false;
  #hasAccepted = false;
  #failingSince = 0;
  #detail = 'not probed yet';

  /** @param thresholds as they are at the moment */
  constructor(thresholds: () => HealthThresholds) {
    this.#read = thresholds;
  }

  get #thresholds(): HealthThresholds {
    return this.#read();
  }

  /** True once `rise` good probes in a row were seen since the last `reset`. */
  get hasPassed(): boolean {
    return this.#hasPassed;
  }

  /**
   * True once `rise` probes in a row were answered since the last `reset`, whatever the status: the way to an API server
   * and back is proven, if not its readiness.
   */
  get hasAnswered(): boolean {
    return this.#hasPassed || this.#hasAnswered;
  }

  /** True once the connections of `rise` probes in a row were accepted since the last `reset`: its host lives. */
  get hasAccepted(): boolean {
    return this.hasAnswered || this.#hasAccepted;
  }

  /** The kind of failure while the member fails, else `undefined`. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** Monotonic milliseconds since when the member fails. Meaningful only while `failure` is set. */
  get failingSince(): number {
    return this.#failingSince;
  }

  /** What the last probe found, in words. */
  get detail(): string {
    return this.#detail;
  }

  get health(): Health {
    if (this.#failure !== undefined) {
      return 'failing';
    }
    return this.#hasPassed ? 'passing' : 'unknown';
  }

  /**
   * True when the last probe was good but more are needed, and before the first one: the next one need not wait for
   * a full interval.
   */
  get isRising(): boolean {
    if (this.#recent.length === 0 && this.#failure === undefined) {
      return !this.#hasPassed;
    }
    return this.#recent.at(-1) === 'good' && (!this.#hasPassed || this.#failure !== undefined);
  }

  /**
   * The number of probes in a row up to now that say nothing for the life of the member: a bad status is an answer, and one whose
   * connection was accepted is slow and not dead.
   */
  get silentInARow(): number {
    return this.#silentInARow;
  }

  /** The number of bad probes in a row up to now, at most the greater of `rise` and `fall`. */
  get #failuresInARow(): number {
    return this.#runLength((verdict) => verdict !== 'good');
  }

  /** Counts one probe. */
  report(verdict: ProbeVerdict, detail: string, now: number): void {
    this.#detail = detail;
    this.#recent.push(verdict === 'answered' || verdict === 'slow' ? 'soft' : verdict);
    const isAnswered = verdict === 'good' || verdict === 'answered';
    const isAccepted = isAnswered || verdict === 'slow';
    this.#answersInARow = isAnswered ? this.#answersInARow + 1 : 0;
    this.#acceptedInARow = isAccepted ? this.#acceptedInARow + 1 : 0;
    this.#silentInARow = isAccepted ? 0 : this.#silentInARow + 1;
    this.#hasAnswered ||= this.#answersInARow >= this.#thresholds.rise;
    this.#hasAccepted ||= this.#acceptedInARow >= this.#thresholds.rise;
    if (this.#recent.length > Math.max(this.#thresholds.rise, this.#thresholds.fall)) {
      this.#recent.shift();
    }
    if (this.#runLength((seen) => seen === 'good') >= this.#thresholds.rise) {
      this.#hasPassed = true;
      this.#failure = undefined;
    } else if (this.#failuresInARow >= this.#thresholds.fall) {
      this.#fail(now);
    }
  }

  /** Takes the member as passing without a probe: it was in use all the time, or before this process began. */
  assumePassed(detail: string = 'taken over from before the restart'): void {
    this.#hasPassed = true;
    this.#failure = undefined;
    this.#recent = [];
    this.#silentInARow = 0;
    this.#detail = detail;
  }

  /** Starts the run of failures again, so that only later probes count. */
  restartRun(): void {
    this.#recent = [];
    this.#silentInARow = 0;
  }

  /** Forgets everything: the member must pass again. */
  reset(): void {
    this.#hasPassed = false;
    this.#hasAnswered = false;
    this.#hasAccepted = false;
    this.#answersInARow = 0;
    this.#acceptedInARow = 0;
    this.#silentInARow = 0;
    this.#failure = undefined;
    this.#recent = [];
    this.#detail = 'not probed yet';
  }

  #fail(now: number): void {
    const run = this.#recent.slice(-this.#thresholds.fall);
    // The mildest of the run: one timeout among refusals may be a listener's full backlog.
    const mildest = severity.find((kind) => run.includes(kind)) ?? 'soft';
    if (this.#failure === undefined) {
      this.#failingSince = now;
      this.#failure = mildest;
    } else if (severity.indexOf(mildest) > severity.indexOf(this.#failure)) {
      this.#failure = mildest;
    }
  }

  #runLength(matches: (verdict: 'good' | Failure) => boolean): number {
    const breakAt = this.#recent.findLastIndex((verdict) => !matches(verdict));
    return this.#recent.length - 1 - breakAt;
  }
}
