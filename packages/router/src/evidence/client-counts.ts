/** Packets of clients, by what is known of them. */
export interface ClientCount {
  /** The VIP's address. */
  readonly vip: string;
  /** The interface that they came by. */
  readonly uplink?: string;
  /** The member that they left towards. */
  readonly nextHop?: string;
  readonly packets: number;
}

/** What clients have sent to the VIPs since the counting began. */
export interface ClientCounts {
  /** SYNs as they arrived, by interface. */
  readonly arrived: readonly ClientCount[];
  /** SYNs that left, by interface and member. */
  readonly sent: readonly ClientCount[];
  /** Connections that are followed, by member: not all of them where there are very many. */
  readonly followed: readonly ClientCount[];
  /** Of those the ones whose client has answered the member's SYN-ACK. */
  readonly established: readonly ClientCount[];
}
