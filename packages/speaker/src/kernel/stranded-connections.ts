import type { SockDiag, TcpConnection } from '@bgp-lb/linux';
import type { VipConfig } from '../config/speaker-config.ts';

/** The part of `SockDiag` of @bgp-lb/linux that is used here. */
type Connections = Pick<SockDiag, 'connections' | 'destroy' | 'close'>;

/** What was reset of one VIP. */
export interface ResetReport {
  readonly vip: string;
  readonly count: number;
  /** Addresses of clients, each once: the first `CLIENTS_NAMED`. */
  readonly clients: readonly string[];
}

export interface StrandedConnectionsOptions {
  readonly open: () => Connections;
  readonly reset: (report: ResetReport) => void;
  readonly failed: (error: unknown) => void;
}

const CLIENTS_NAMED = 16;
/** A table of connections that is filled faster than we empty it is not emptied by us. */
const ROUNDS = 3;

/**
 * Resets the clients' connections to VIPs that are about to leave this host. Once the address is gone no packet of
 * theirs is answered from here, not even by a FIN: a client that only reads (a watch) would wait for its own timeout, and
 * the clients of a frozen process would in any case, since its kernel went on acknowledging.
 *
 * To be called while the address is still there: a RST needs it as its source.
 */
export class StrandedConnections {
  readonly #options: StrandedConnectionsOptions;

  constructor(options: StrandedConnectionsOptions) {
    this.#options = options;
  }

  /** Never throws: the address leaves in any case. */
  reset(vips: readonly VipConfig[]): void {
    if (vips.length === 0) return;
    try {
      const diag = this.#options.open();
      try {
        for (const vip of vips) this.#resetOne(diag, vip);
      } finally {
        diag.close();
      }
    } catch (error) {
      this.#options.failed(error);
    }
  }

  /** Sockets have the machine's port: the mapping is undone before a packet reaches them. */
  #resetOne(diag: Connections, { address, machinePort }: VipConfig): void {
    const reset: TcpConnection[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const left = diag.connections({ address, port: machinePort });
      if (left.length === 0) break;
      reset.push(...left.filter((connection) => diag.destroy(connection)));
    }
    if (reset.length === 0) return;
    const clients = [...new Set(reset.map(({ remoteAddress }) => remoteAddress))].slice(0, CLIENTS_NAMED);
    this.#options.reset({ vip: address, count: reset.length, clients });
  }
}
