/** New requests at a steady rate: what a change costs callers, and when they are served again. */
import type { LoopArguments, LoopConnection, LoopReport, RequestResult } from '../client-protocol.ts';
import { KeptHttp1 } from './kept-http1.ts';
import { KeptHttp2 } from './kept-http2.ts';
import { newRequest } from './new-request.ts';
import { Tally } from './tally.ts';

interface Sample {
  readonly sentAt: number;
  readonly endedAt: number;
  readonly result: RequestResult;
  readonly way: LoopConnection;
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
  readonly #kept = { 'kept-http1': new KeptHttp1(), 'kept-http2': new KeptHttp2() };
  #markedAt = performance.now();
  #turn = 0;

  constructor(options: LoopArguments) {
    this.#timer = setInterval(() => this.#send(options), options.every);
    this.#send(options);
  }

  #send(options: LoopArguments): void {
    if (this.#pending.size >= maxInFlight) return;
    const sentAt = performance.now();
    const way = options.connections[this.#turn % options.connections.length] ?? 'new';
    this.#turn += 1;
    const answer = way === 'new' ? newRequest(options) : this.#kept[way].request(options);
    const pending = answer.then((result) => {
      this.#samples.push({ sentAt, endedAt: performance.now(), result, way });
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
    for (const kept of Object.values(this.#kept)) kept.close();
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
  const failedBy = new Tally();
  for (const { result, way } of bad) {
    reasons.add(result.error ?? `status ${result.status}`);
    failedBy.add(way);
  }
  const lastFailure = Math.max(markedAt, ...bad.map(({ sentAt }) => sentAt));
  const firstSuccess = earliestEnd(good);
  const recovered = earliestEnd(good.filter(({ sentAt }) => sentAt > lastFailure));
  return {
    sent: samples.length,
    ok: good.length,
    failed: bad.length,
    byMaster: byMaster.toRecord(),
    reasons: reasons.toRecord(),
    failedBy: failedBy.toRecord(),
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
