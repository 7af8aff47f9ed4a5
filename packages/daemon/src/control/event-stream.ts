import type { ServerResponse } from 'node:http';
import type { EventLog, LoggedEvent } from './event-log.ts';
import { writeBounded } from './write-bounded.ts';

/** Octets that may wait for one client; one that reads more slowly is cut off and may resume by `Last-Event-ID`. */
const MAX_STREAM_BUFFER: number = 256 * 1024;

const HEARTBEAT_MS = 15_000;

/** The id of an event in a stream: the daemon's instance and the sequence number. */
function eventId(log: EventLog, sequence: number): string {
  return `${log.instance}-${sequence}`;
}

/** The sequence number after which a stream resumes; an id of an earlier life of the daemon asks for everything that is kept. */
export function resumeAfter(log: EventLog, lastEventId: string): number {
  const match = /^([0-9a-f]{8})-(\d{1,15})$/.exec(lastEventId);
  return match?.[1] === log.instance ? Math.min(Number(match[2]), log.lastSequence) : 0;
}

/** Server-sent events (HTML standard, section "Server-sent events") of an event log to a bounded number of clients. */
export class EventStreams {
  readonly #log: EventLog;
  readonly #limit: number;
  readonly #onCut: () => void;
  readonly #open = new Set<ServerResponse>();

  constructor(options: { log: EventLog; limit: number; onCut: () => void }) {
    this.#log = options.log;
    this.#limit = options.limit;
    this.#onCut = options.onCut;
  }

  get size(): number {
    return this.#open.size;
  }

  get isFull(): boolean {
    return this.#open.size >= this.#limit;
  }

  /** Sends what came after a sequence number (nothing old when undefined), then every new event until the client leaves. */
  serve(response: ServerResponse, after: number | undefined): void {
    this.#open.add(response);
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    });
    // The header goes out at once, also while nothing happens.
    this.#write(response, ': events of bgp-lb\n\n');
    const unsubscribe = this.#log.subscribe((event) => this.#write(response, this.#format(event)));
    const heartbeat = setInterval(() => this.#write(response, ': still here\n\n'), HEARTBEAT_MS);
    heartbeat.unref();
    response.once('close', () => {
      unsubscribe();
      clearInterval(heartbeat);
      this.#open.delete(response);
    });
    if (after !== undefined) this.#replay(response, after);
  }

  #replay(response: ServerResponse, after: number): void {
    const { events, missed } = this.#log.since(after);
    if (missed > 0) this.#write(response, `event: missed\ndata: ${JSON.stringify({ missed })}\n\n`);
    for (const event of events) this.#write(response, this.#format(event));
  }

  #format(event: LoggedEvent): string {
    // JSON has no raw line feed, and a type with one would end the field early.
    const type = event.type.replace(/[\r\n]/g, ' ');
    return `id: ${eventId(this.#log, event.sequence)}\nevent: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
  }

  #write(response: ServerResponse, text: string): void {
    writeBounded(response, text, MAX_STREAM_BUFFER, this.#onCut);
  }

  /** Ends all streams. */
  close(): void {
    for (const response of this.#open) response.end();
  }
}
