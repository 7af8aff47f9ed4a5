import type { SockDiag, TcpConnection } from '@bgp-lb/linux';
import type { VipConfig } from '../config/speaker-config.ts';

/** The part of `SockDiag` of @bgp-lb/linux that is used here. */
type Connections = Pick<SockDiag, 'connections' | 'destroy' | 'close'>;

/** What was reset of one VIP. */
export interface ResetReport {
  readonly vip: string;
  /** Connections of clients. */
  readonly count: number;
  /** Their addresses, each once: the first `CLIENTS_NAMED`. */
  readonly clients: readonly string[];
  /** Connections of this host itself and of the routers. */
  readonly others: number;
}

/** A client with connections to the VIPs. */
export interface ConnectedClient {
  readonly address: string;
  readonly connections: number;
}

export interface ClientConnectionsOptions {
  readonly open: () => Connections;
  /**
   * Addresses whose connections are no clients': the routers' health checks, and this host's own programs (kubelet), which
   * never end by themselves and find another master once the VIP has left.
   */
  readonly notClients: () => readonly string[];
  /** Where clients are connected by load balancers, which open connections of their own; absent where clients reach the VIPs here. */
  readonly byLoadBalancers?: {
    /** Of this host. */
    readonly addresses: readonly string[];
    readonly from: () => readonly string[];
  };
  readonly reset: (report: ResetReport) => void;
  /** The kernel does not answer, or refuses. Told once. */
  readonly failed: (error: unknown) => void;
  /** Monotonic milliseconds; default `performance.now`. */
  readonly now?: () => number;
}

const CLIENTS_NAMED = 16;
/** Reports of resets that are kept. */
const RESETS_KEPT = 16;
/** Clients that status names. */
const CLIENTS_SHOWN = 64;
/** Milliseconds that a count holds: for each the kernel walks all connections of the host, which takes it some ms. */
const COUNT_HOLDS = 1_000;
/** A table of connections that is filled faster than we empty it is not emptied by us. */
const ROUNDS = 3;

/** The TCP connections to the VIPs on this host, as the kernel knows them, whatever the process does that has them. */
export class ClientConnections {
  readonly #options: ClientConnectionsOptions;
  readonly #now: () => number;
  readonly #resets: { readonly at: number; readonly report: ResetReport }[] = [];
  #hasFailed = false;
  #counted: { readonly at: number; readonly count: number | undefined } | undefined;

  constructor(options: ClientConnectionsOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /**
   * How many connections of clients there are, or were a second ago; `undefined` when the kernel does not tell.
   * @param isAnew asks the kernel in any case
   */
  count(vips: readonly VipConfig[], isAnew = false): number | undefined {
    const at = this.#now();
    if (isAnew || this.#counted === undefined || at - this.#counted.at >= COUNT_HOLDS) {
      this.#counted = { at, count: this.#asking((diag) => this.#listAll(diag, vips).length) };
    }
    return this.#counted.count;
  }

  /** What has been reset, the last of it, with monotonic milliseconds. */
  get resets(): readonly { readonly at: number; readonly report: ResetReport }[] {
    return this.#resets;
  }

  /** The clients that are connected, those with most connections first, up to a bound; `undefined` when the kernel does not tell. */
  connected(vips: readonly VipConfig[]): readonly ConnectedClient[] | undefined {
    const connections = this.#asking((diag) => this.#listAll(diag, vips));
    if (connections === undefined) return undefined;
    const counts = new Map<string, number>();
    for (const { remoteAddress } of connections)
      counts.set(remoteAddress, (counts.get(remoteAddress) ?? 0) + 1);
    return [...counts]
      .map(([address, count]) => ({ address, connections: count }))
      .sort((a, b) => b.connections - a.connections || a.address.localeCompare(b.address))
      .slice(0, CLIENTS_SHOWN);
  }

  /**
   * Resets all connections to VIPs that are about to leave this host. Once the address is gone no packet of theirs is
   * answered from here, not even by a FIN: a client that only reads (a watch) would wait for its own timeout, and the
   * clients of a frozen process would in any case, since its kernel went on acknowledging.
   *
   * To be called while the address is still there: a RST needs it as its source. Never throws: it leaves in any case.
   */
  reset(vips: readonly VipConfig[]): void {
    if (vips.length === 0) return;
    this.#asking((diag) => {
      for (const vip of vips) this.#resetOne(diag, vip);
    });
  }

  #listAll(diag: Connections, vips: readonly VipConfig[]): readonly TcpConnection[] {
    const { byLoadBalancers: by } = this.#options;
    if (by !== undefined) {
      const port = vips[0]?.machinePort ?? 6443;
      return by.addresses
        .flatMap((address) => diag.connections({ address, port }))
        .filter(({ remoteAddress }) => by.from().includes(remoteAddress));
    }
    return vips.flatMap((vip) => list(diag, vip).filter((one) => this.#isClient(vip, one)));
  }

  #asking<T>(ask: (diag: Connections) => T): T | undefined {
    try {
      const diag = this.#options.open();
      try {
        return ask(diag);
      } finally {
        diag.close();
      }
    } catch (error) {
      if (!this.#hasFailed) this.#options.failed(error);
      this.#hasFailed = true;
      return undefined;
    }
  }

  #resetOne(diag: Connections, vip: VipConfig): void {
    const reset: TcpConnection[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const left = list(diag, vip);
      if (left.length === 0) break;
      reset.push(...left.filter((connection) => diag.destroy(connection)));
    }
    if (reset.length === 0) return;
    const ofClients = reset.filter((one) => this.#isClient(vip, one));
    const clients = [...new Set(ofClients.map(({ remoteAddress }) => remoteAddress))].slice(0, CLIENTS_NAMED);
    const count = ofClients.length;
    const report = { vip: vip.address, count, clients, others: reset.length - count };
    this.#resets.push({ at: this.#now(), report });
    if (this.#resets.length > RESETS_KEPT) this.#resets.shift();
    this.#options.reset(report);
  }

  /** This host reaches its VIP with the VIP itself as the source. */
  #isClient({ address }: VipConfig, { remoteAddress }: TcpConnection): boolean {
    return remoteAddress !== address && !this.#options.notClients().includes(remoteAddress);
  }
}

/** Sockets have the machine's port: the mapping is undone before a packet reaches them. */
function list(diag: Connections, { address, machinePort }: VipConfig): readonly TcpConnection[] {
  return diag.connections({ address, port: machinePort });
}
