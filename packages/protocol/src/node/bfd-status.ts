/** What is asked of BFD sessions, and what they tell. Everything here can be copied between threads. */
import type { BfdAuthenticationMode, BfdDiscardReason, BfdReason, BfdState } from '../index.ts';

/** The intervals of a session in milliseconds, fractions allowed down to a microsecond. */
export interface BfdTiming {
  /** Wanted between our packets in Up; the peer may ask for more. */
  readonly transmitInterval: number;
  /** Asked of the peer between its packets. */
  readonly receiveInterval: number;
  /** Of our packets, so many in a row may be lost: 1 to 255. */
  readonly detectMultiplier: number;
}

/** A session to be had with a neighbor. */
export interface BfdSessionOptions extends BfdTiming {
  /** The caller's name of it, unique among its sessions. */
  readonly id: string;
  /** A literal address; a link-local one with its zone, `fe80::1%eth0`. */
  readonly remoteAddress: string;
  readonly localAddress?: string;
  /** The interface that the packets leave by. */
  readonly device?: string;
  /** The neighbor is more than one hop away: port 4784, any TTL (RFC 5883). */
  readonly multihop?: boolean;
  /** Default: none. */
  readonly authentication?: BfdAuthenticationMode;
  /**
   * One element, bfd.XmitAuthSeq: the number of the last packet that was sent with authentication. In shared memory it outlives the
   * thread, so that the peer takes the packets of the next one. Random by default.
   */
  readonly sequence?: Uint32Array;
}

/**
 * `none`; `not agreed`: the peer has not said that it can; `agreed`: both have, and no packet of the peer has had it yet; `required`:
 * packets without it are discarded.
 */
export type BfdAuthenticationStatus = 'none' | 'not agreed' | 'agreed' | 'required';

/** A session changed its state. Times are those of `threadClock`. */
export interface BfdStateChange {
  readonly id: string;
  readonly from: BfdState;
  readonly to: BfdState;
  readonly reason: BfdReason;
  /** From Up by silence or by the peer's Down. RFC 5882 section 4.2: nothing else is for a routing protocol to act on. */
  readonly isFailure: boolean;
  /** Ours: why the state changed, `BfdDiagnostic`. */
  readonly diagnostic: number;
  /** Of the peer's last packet: why its own session last changed. */
  readonly remoteDiagnostic: number;
  readonly at: number;
  /** When its last packet was read. */
  readonly lastReceivedAt: number | undefined;
  /** The Detection Time before the change, in ms. */
  readonly detectionTime: number | undefined;
  /** How late our own timer was in ms: much more than a few means that this process stalled. */
  readonly timerDelay: number;
  /**
   * For a silence: nothing was heard in the last half of its Detection Time from any other peer whose session is Up, or was
   * lost as well a Detection Time ago at most, and there is one. Then it may be this host that hears nothing.
   */
  readonly areOthersSilent: boolean;
}

/** Packets of one session since it was added. */
export interface BfdSessionCounters {
  readonly sent: number;
  readonly received: number;
  /** Packets that could not be sent. */
  readonly sendErrors: number;
  /** Packets whose Authentication Section was refused, or missing. */
  readonly discarded: number;
  /** How often it left Up by a failure. */
  readonly failures: number;
  /** Detection Times that had run out only because we were late: the packets were there. */
  readonly averted: number;
}

/** How the operating system schedules the BFD thread, and what it refused: what `@bgp-lb/linux` gives. */
export interface BfdScheduling {
  /** SCHED_FIFO, a nice value, or nothing special. */
  readonly policy: 'fifo' | 'nice' | 'ordinary';
  /** SCHED_FIFO priority, nice value, or 0. */
  readonly value: number;
  readonly refusals: readonly { readonly wanted: string; readonly code: string; readonly message: string }[];
}

/** What a session says of itself. Times are those of `threadClock`, durations are ms. */
export interface BfdSessionStatus {
  readonly id: string;
  readonly remoteAddress: string;
  readonly multihop: boolean;
  readonly state: BfdState;
  readonly since: number;
  readonly diagnostic: number;
  /** `undefined` while the peer is silent. */
  readonly remote:
    | { readonly state: BfdState; readonly diagnostic: number; readonly discriminator: number }
    | undefined;
  readonly localDiscriminator: number;
  /** In use now: a second at least before Up, and never less than the peer asks for. */
  readonly transmitInterval: number;
  readonly detectionTime: number | undefined;
  readonly lastReceivedAt: number | undefined;
  /** Why its last packet could not be sent. */
  readonly sendError: string | undefined;
  readonly authentication: BfdAuthenticationStatus;
  readonly counters: BfdSessionCounters;
}

/** Packets that no session was given, and sockets that are missing. */
export interface BfdReceiveStatus {
  readonly discarded: Readonly<Record<BfdDiscardReason, number>>;
  /** Receivers that could not be opened, with the reason; they are tried again every second. */
  readonly missing: readonly string[];
}

/** All that can be told of BFD. */
export interface BfdStatus {
  readonly at: number;
  readonly sessions: readonly BfdSessionStatus[];
  readonly receive: BfdReceiveStatus;
}
