import { type CodecContext, HEADER_LENGTH } from '@bgp-lb/protocol';
import type { Traffic } from '@bgp-lb/protocol/node';

/** Messages as they were on the wire. */
export interface Recorded {
  /** Milliseconds since the Epoch, with microseconds as fraction. */
  readonly time: number;
  /** Name of the peer: for members of a range, its address. */
  readonly neighbor: string;
  readonly address: string;
  readonly isSent: boolean;
  /** One message, or several that were sent in one piece. */
  readonly bytes: Uint8Array;
  readonly context: CodecContext;
  readonly localAddress: string | undefined;
  readonly remoteAddress: string | undefined;
}

export interface MessageRecorderOptions {
  /** Milliseconds since the Epoch. */
  readonly wallClock: () => number;
  /** Octets that are kept of each neighbor, the newest, each message with its record; default 64 KiB. */
  readonly octetsPerNeighbor?: number;
  /** Neighbors of which messages are kept; of more, the one that was silent for longest is forgotten. Default 64. */
  readonly neighbors?: number;
}

const OCTETS_PER_NEIGHBOR = 64 * 1024;
const NEIGHBORS = 64;
/** What the record of a message takes beside its octets, about: a neighbor can send messages of 23 octets as fast as it likes. */
const RECORD_OCTETS = 256;

/** What is kept of a neighbor. */
interface Reel {
  kept: Recorded[];
  octets: number;
}

/**
 * Keeps the last messages with each neighbor, in bounded memory, and tells who listens of every message. KEEPALIVEs are told of and
 * not kept: within an hour there would be nothing else.
 */
export class MessageRecorder {
  readonly #options: Required<MessageRecorderOptions>;
  /** The one with the newest message last. */
  readonly #reels = new Map<string, Reel>();
  readonly #listeners = new Set<(recorded: Recorded) => void>();

  constructor(options: MessageRecorderOptions) {
    this.#options = { octetsPerNeighbor: OCTETS_PER_NEIGHBOR, neighbors: NEIGHBORS, ...options };
  }

  record(peer: { readonly name: string; readonly address: string }, { bytes, ...traffic }: Traffic): void {
    const isKeepalive = bytes.length === HEADER_LENGTH;
    if (isKeepalive && this.#listeners.size === 0) {
      return;
    }
    // What was received is a part of what the socket read, 64 KiB at most, which it would keep alive. (`slice` of a Buffer copies nothing.)
    const own = traffic.isSent ? bytes : new Uint8Array(bytes);
    const { name: neighbor, address } = peer;
    const recorded = { time: this.#options.wallClock(), neighbor, address, bytes: own, ...traffic };
    if (!isKeepalive) {
      this.#keep(recorded);
    }
    for (const listener of this.#listeners) {
      listener(recorded);
    }
  }

  /** What is kept, oldest first. */
  kept(): readonly Recorded[] {
    return [...this.#reels.values()].flatMap(({ kept }) => kept).sort((a, b) => a.time - b.time);
  }

  /** Calls back with every message from now on. Returns what ends it. */
  listen(listener: (recorded: Recorded) => void): () => void {
    const own = (recorded: Recorded): void => listener(recorded);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  #keep(recorded: Recorded): void {
    const { octetsPerNeighbor, neighbors } = this.#options;
    const reel = this.#reels.get(recorded.neighbor) ?? { kept: [], octets: 0 };
    this.#reels.delete(recorded.neighbor);
    this.#reels.set(recorded.neighbor, reel);
    reel.kept.push(recorded);
    reel.octets += sizeOf(recorded);
    let surplus = 0;
    for (const oldest of reel.kept) {
      if (reel.octets <= octetsPerNeighbor) break;
      reel.octets -= sizeOf(oldest);
      surplus += 1;
    }
    if (surplus > 0) reel.kept.splice(0, surplus);
    const [oldest] = this.#reels.keys();
    if (this.#reels.size > neighbors && oldest !== undefined) {
      this.#reels.delete(oldest);
    }
  }
}

function sizeOf({ bytes }: Recorded): number {
  return bytes.length + RECORD_OCTETS;
}

/** A wall clock with microseconds: the monotonic clock beside the time of day, which it follows when that is set. */
export function preciseWallClock(): () => number {
  let offset = performance.timeOrigin;
  return () => {
    const wall = Date.now();
    const precise = offset + performance.now();
    if (Math.abs(precise - wall) <= 2) {
      return precise;
    }
    offset += wall - precise;
    return wall;
  };
}
