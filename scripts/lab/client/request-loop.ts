/** New requests at a steady rate: what a change costs callers, and when they are served again. */
import type { LoopArguments, LoopReport, RequestResult } from '../client-protocol.ts';
import { newRequest } from './new-request.ts';
import { Tally } from './tally.ts';

interface Sample {
  readonly sentAt: number;
  readonly endedAt: number;
  readonly result: RequestResult;
}

/** Requests kept for the report; older ones are forgotten. */
const maxSamples = 100_000;
/** Requests under way together; more are not sent, so that a server that hangs does not use up the ports. */
const maxInFlight = 2_000;

/** A running loop. */
export class RequestLoop {
  readonly #timer: NodeJS.Timeout;
  readonly #pending = new Set<Promise<void>>();
  readonly #samples: Sample[] = [];
  #markedAt = performance.now();

  constructor(options: LoopArguments) {
    this.#timer = setInterval(() => this.#send(options), options.every);
    this.#send(options);
  }

  #send(options: LoopArguments): void {
    if (this.#pending.size >= maxInFlight) return;
    const sentAt = performance.now();
    const pending = newRequest(options).then((result) => {
      this.#samples.push({ sentAt, endedAt: performance.now(), result });
      if (this.#samples.length > maxSamples) this.#samples.splice(0, maxSamples / 2);
      this.#pending.delete(pending);
    });
    this.#pending.add(pending);
  }

  /** Counts from now on. */
  mark(): void {
    this.#markedAt = performance.now();
  }

  /** The requests sent since the mark that have ended. */
  report(): LoopReport {
    return { ...summarize(this.#samples, this.#markedAt), inFlight: this.#pending.size };
  }

  /** Ends the loop and waits for what is in flight. */
  async stop(): Promise<LoopReport> {
    clearInterval(this.#timer);
    await Promise.all(this.#pending);
    return this.report();
  }
}

function summarize(all: readonly Sample[], markedAt: number): Omit<LoopReport, 'inFlight'> {
  const samples = all.filter(({ sentAt }) => sentAt >= markedAt);
  const good = samples.filter(({ result }) => result.ok);
  const bad = samples.filter(({ result }) => !result.ok);
  const byMaster = new Tally();
  const reasons = new Tally();
  for (const { result } of good) byMaster.add(result.master ?? 'unknown');
  for (const { result } of bad) reasons.add(result.error ?? `status ${result.status}`);
  const lastFailure = Math.max(markedAt, ...bad.map(({ sentAt }) => sentAt));
  const firstSuccess = earliestEnd(good);
  const recovered = earliestEnd(good.filter(({ sentAt }) => sentAt > lastFailure));
  return {
    sent: samples.length,
    ok: good.length,
    failed: bad.length,
    byMaster: byMaster.toRecord(),
    reasons: reasons.toRecord(),
    slowest: good.reduce((slowest, { result }) => Math.max(slowest, result.took), 0),
    ...(firstSuccess === undefined ? {} : { firstSuccess: firstSuccess - markedAt }),
    ...(recovered === undefined ? {} : { recovered: recovered - markedAt }),
  };
}

function earliestEnd(samples: readonly Sample[]): number | undefined {
  return samples.length === 0
    ? undefined
    : samples.reduce((earliest, { endedAt }) => Math.min(earliest, endedAt), Number.POSITIVE_INFINITY);
}
