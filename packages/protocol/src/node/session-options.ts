import type {
  AttributeMemory,
  ExpectedPeer,
  Negotiated,
  OpenMessage,
  PeerFsmConfig,
  ReceivedUpdate,
  RouteRefreshMessage,
  SessionEnd,
} from '../index.ts';
import type { Clock } from './clock.ts';
import type { Traffic } from './connection.ts';
import type { Deadlines } from './deadlines.ts';
import type { PeerEvent } from './peer-event.ts';
import type { SocketOptions, Sockets } from './sockets.ts';

/** Whom a session tells what happens. */
interface SessionHandlers {
  established(negotiated: Negotiated): void;
  down(end: SessionEnd): void;
  /** @throws NotificationError to end the session */
  update(update: ReceivedUpdate): void;
  refresh(refresh: RouteRefreshMessage): void;
  /** The socket has room again. */
  drained(): void;
  event(event: PeerEvent): void;
  /** All events of one input are done. */
  settled(): void;
}

/** What a session needs of its peer and its surroundings. */
export interface SessionOptions {
  readonly address: string;
  readonly port: number;
  readonly socket: SocketOptions;
  readonly connectPassword: (() => string | undefined) | undefined;
  readonly localOpen: OpenMessage;
  readonly expected: ExpectedPeer;
  readonly fsm: PeerFsmConfig;
  readonly sockets: Sockets;
  readonly clock: Clock;
  /** Of all sessions of the clock. */
  readonly deadlines: Deadlines;
  readonly random: () => number;
  readonly handlers: SessionHandlers;
  readonly traffic: ((traffic: Traffic) => void) | undefined;
  /** Where received attributes are looked up by their octets. */
  readonly memory: AttributeMemory;
}
