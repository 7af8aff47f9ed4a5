import {
  type BfdControlPacket,
  type BfdDiscardReason,
  bfdDiscardReasons,
  decodeBfdControlPacket,
} from '../index.ts';
import { bfdPort } from './bfd-session-driver.ts';
import type { BfdDatagramSource, BfdReceiver, BfdSockets } from './bfd-sockets.ts';
import type { BfdReceiveStatus } from './bfd-status.ts';
import type { Clock } from './clock.ts';

/** Which of the four receivers: a packet belongs to a session of the same kind only, since only one kind has its TTL checked. */
export interface BfdPath {
  readonly version: 4 | 6;
  readonly multihop: boolean;
}

/** Gives a packet, read and as it arrived, to its session; otherwise why it is discarded. */
export type DeliverBfdPacket = (
  packet: BfdControlPacket,
  payload: Uint8Array,
  source: BfdDatagramSource,
  path: BfdPath,
) => BfdDiscardReason | undefined;

interface Entry {
  readonly path: BfdPath;
  receiver: BfdReceiver | undefined;
  error: string | undefined;
  cancelRetry: () => void;
}

/** ms between two attempts to open a receiver: until another BFD daemon is gone, or the predecessor of an upgrade. */
const retryInterval = 1000;

/** After a stall, turns of the event loop that may bring packets before a silence is believed: more than a socket holds. */
const readingTurns = 32;

/** The receiving sockets, opened for as long as there are sessions, and the count of what they discard. */
export class BfdReceivers {
  readonly #sockets: BfdSockets;
  readonly #clock: Clock;
  readonly #deliver: DeliverBfdPacket;
  readonly #entries = new Map<string, Entry>();
  readonly #discarded = new Map<BfdDiscardReason, number>();
  /** Datagrams so far; only compared. */
  #datagrams = 0;
  #waiting: (() => void)[] = [];

  constructor(sockets: BfdSockets, clock: Clock, deliver: DeliverBfdPacket) {
    this.#sockets = sockets;
    this.#clock = clock;
    this.#deliver = deliver;
  }

  /** Opens what is needed for these paths and closes the rest. */
  need(paths: readonly BfdPath[]): void {
    const wanted = new Map(paths.map((path) => [`${path.version} ${path.multihop}`, path]));
    for (const [key, entry] of this.#entries) {
      if (wanted.has(key)) continue;
      this.#entries.delete(key);
      entry.cancelRetry();
      entry.receiver?.close();
    }
    for (const [key, path] of wanted) {
      if (this.#entries.has(key)) continue;
      const entry: Entry = { path, receiver: undefined, error: undefined, cancelRetry: () => undefined };
      this.#entries.set(key, entry);
      this.#open(entry);
    }
  }

  /**
   * Calls back once a turn of the event loop brought no datagram. A turn reads some 32 from a socket at most, so that
   * after a long stall of many sessions it takes several. A flood does not put it off for ever.
   */
  afterReading(proceed: () => void): void {
    this.#waiting.push(proceed);
    if (this.#waiting.length === 1) this.#turn(readingTurns);
  }

  status(): BfdReceiveStatus {
    const discarded = Object.fromEntries(
      bfdDiscardReasons.map((reason) => [reason, this.#discarded.get(reason) ?? 0]),
    ) as Record<BfdDiscardReason, number>;
    const missing = [...this.#entries.values()].flatMap(({ error }) => (error === undefined ? [] : [error]));
    return { discarded, missing };
  }

  #turn(left: number): void {
    const before = this.#datagrams;
    setImmediate(() => {
      if (this.#datagrams !== before && left > 1) {
        this.#turn(left - 1);
        return;
      }
      const ready = this.#waiting;
      this.#waiting = [];
      for (const proceed of ready) proceed();
    });
  }

  #open(entry: Entry): void {
    const { version, multihop } = entry.path;
    const port = multihop ? bfdPort.multihop : bfdPort.singleHop;
    const failed = (error: unknown): void => {
      const why = error instanceof Error ? error.message : String(error);
      entry.error = `IPv${version} port ${port}: ${why}`;
      entry.receiver?.close();
      entry.receiver = undefined;
      entry.cancelRetry = this.#clock.after(retryInterval, () => this.#open(entry));
    };
    try {
      entry.receiver = this.#sockets.receive(
        { version, port, onlyTtl255: !multihop },
        (payload, source) => this.#take(payload, source, entry.path),
        failed,
      );
      entry.error = undefined;
    } catch (error) {
      failed(error);
    }
  }

  #take(payload: Uint8Array, source: BfdDatagramSource, path: BfdPath): void {
    this.#datagrams += 1;
    const packet = decodeBfdControlPacket(payload);
    const fault = typeof packet === 'string' ? packet : this.#deliver(packet, payload, source, path);
    if (fault !== undefined) this.#discard(fault);
  }

  #discard(reason: BfdDiscardReason): void {
    this.#discarded.set(reason, (this.#discarded.get(reason) ?? 0) + 1);
  }
}
