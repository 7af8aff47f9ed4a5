/** The vocabulary of a BFD session: what happens to it, what it asks for, and why its state changes. */
import type { BfdControlPacket, BfdState } from './control-packet.ts';
import type { BfdSettings } from './session.ts';

/** What can happen to a session. */
export type BfdEvent =
  /** A packet that was demultiplexed to this session and passed its authentication. */
  | { readonly type: 'packet'; readonly packet: BfdControlPacket }
  /** `transmitAt` may have come. Too early is harmless; late sends one packet, never several. */
  | { readonly type: 'transmit-due' }
  /**
   * Packets of other sessions leave now: this one's leaves with them when jitter lets it, so that one look at the clock
   * serves many sessions. Too early is harmless.
   */
  | { readonly type: 'transmit-shared' }
  /**
   * `detectAt` may have come. Too early is harmless. Give it only after the packets that wait in the socket:
   * a process that stalled must not take its own stall for the peer's silence.
   */
  | { readonly type: 'detection-due' }
  /** Takes the session down for administrative reasons (RFC 5880 section 6.8.16). */
  | { readonly type: 'admin-down' }
  /** Ends AdminDown. */
  | { readonly type: 'admin-up' }
  /** Checked by `checkBfdSettings` before. */
  | { readonly type: 'settings'; readonly settings: BfdSettings };

/** Why a session changed its state. */
export type BfdReason =
  /** Down to Init: the peer says Down, it hears or begins. */
  | 'peer-heard'
  /** To Up: the peer hears us. */
  | 'peer-agrees'
  /** Init or Up to Down: no packet for a Detection Time. The path or the peer's host is dead. */
  | 'detection-expired'
  /** Up to Down: the peer says Down; its diagnostic tells whether it stopped hearing us or began again. */
  | 'peer-down'
  /** Init or Up to Down: the peer was taken down by its operator. Not a failure (RFC 5882 section 4.2). */
  | 'peer-admin-down'
  /** To AdminDown: we were taken down. Not a failure. */
  | 'admin-down'
  /** AdminDown to Down: begins again. */
  | 'admin-up';

/** What the driver must do, in this order. */
export type BfdAction =
  | { readonly type: 'send'; readonly packet: BfdControlPacket }
  | {
      readonly type: 'state-changed';
      readonly from: BfdState;
      readonly to: BfdState;
      readonly reason: BfdReason;
    };
