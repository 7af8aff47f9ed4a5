/** Where the UDP sockets of BFD come from. `@bgp-lb/linux` has them; tests put a network of their own here. */

/** A socket that receives the BFD Control packets of one address family, on all addresses of the host. */
export interface BfdReceiveOptions {
  readonly version: 4 | 6;
  readonly port: number;
  /** Packets that arrive with another TTL or hop limit than 255 are dropped (RFC 5881 section 5). */
  readonly onlyTtl255: boolean;
}

/** A socket that sends the packets of one session. */
export interface BfdSendOptions {
  /** A literal address; a link-local one with its zone, `fe80::1%eth0`. */
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress?: string;
  /** The interface that the packets leave by. */
  readonly device?: string;
}

/** The address a datagram says it comes from: `192.0.2.1`, `fe80::1%eth0`. To be asked before the call with it returns. */
export type BfdDatagramSource = () => string;

export interface BfdReceiver {
  close(): void;
}

/** Sends with TTL 255 from a source port of its own, 49152 to 65535 (RFC 5881 sections 4 and 5). */
export interface BfdSender {
  readonly port: number;
  /** Throws when the packet could not be sent. Never waits. */
  send(payload: Uint8Array): void;
  close(): void;
}

/** Both calls throw when the socket cannot be had. The payload of a datagram is the socket's again when the call returns. */
export interface BfdSockets {
  receive(
    options: BfdReceiveOptions,
    onDatagram: (payload: Uint8Array, source: BfdDatagramSource) => void,
    onError: (error: Error) => void,
  ): BfdReceiver;
  open(options: BfdSendOptions): BfdSender;
}
