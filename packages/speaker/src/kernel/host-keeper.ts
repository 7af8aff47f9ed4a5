import { NftablesMonitor, RouteMonitor } from '@bgp-lb/linux';
import type { VipConfig } from '../config/speaker-config.ts';
import { type ConnectionHold, HOLD_TABLE } from './connection-hold.ts';
import type { HostNetwork, Pass } from './host-network.ts';
import { NFT_TABLE } from './nft-table.ts';

/** Milliseconds between passes that renew the leases. */
const LEASE_INTERVAL = 10_000;
/**
 * Of so many of them one reads everything back. The nft table is what the others leave out: reading it takes a run of nft(8),
 * which was a fifth of what a speaker at rest took of the processor, and the kernel tells of each change of it.
 */
const FULL_PASS_EVERY = 6;
/** Milliseconds that events of the kernel are gathered before a pass. */
const EVENT_DELAY = 50;

export interface HostKeeperHandlers {
  /** Told each new reason why the kernel is not as it should be. */
  readonly failed: (error: unknown) => void;
  /** Told which VIPs are about to be unbound, while they are still there. */
  readonly leaving: (vips: readonly VipConfig[]) => void;
  /** Whether a change of nftables that the kernel tells of is our own, such as the renewal of a lease: nothing to be read back for. */
  readonly isOwn: (portId: number) => boolean;
}

/** Runs the passes of a `HostNetwork`: on demand, on events of the kernel, and on a timer. Looks after the table of a drain too. */
export class HostKeeper {
  readonly #host: HostNetwork;
  readonly #hold: Pick<ConnectionHold, 'repair'>;
  readonly #handlers: HostKeeperHandlers;
  #monitors: readonly { close(): void }[] = [];
  #interval: NodeJS.Timeout | undefined;
  #eventTimer: NodeJS.Timeout | undefined;
  #holdTimer: NodeJS.Timeout | undefined;
  #nextPass: Pass = 'event';
  #fault: string | undefined;

  constructor(host: HostNetwork, hold: Pick<ConnectionHold, 'repair'>, handlers: HostKeeperHandlers) {
    this.#host = host;
    this.#hold = hold;
    this.#handlers = handlers;
  }

  /** Why the kernel is not as it should be; `undefined` when it is. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Begins to listen and to renew. @throws SystemCallError when the kernel's notifications cannot be had */
  start(): void {
    const error = (fault: Error): void => this.#handlers.failed(fault);
    const route = new RouteMonitor(
      {
        changed: (_, change) => {
          if (this.#host.isConcernedBy(change)) this.#soon('event');
        },
        overflow: () => this.#soon('event'),
        error,
      },
      ['link', 'address', 'route'],
    );
    this.#monitors = [route];
    const nft = new NftablesMonitor({
      changed: (table, portId) => {
        if (this.#handlers.isOwn(portId)) return;
        if (table === NFT_TABLE) this.#soon('nft');
        if (table === HOLD_TABLE) this.#repairHoldSoon();
      },
      overflow: () => {
        this.#soon('nft');
        this.#repairHoldSoon();
      },
      error,
    });
    this.#monitors = [route, nft];
    let passes = 0;
    this.#interval = setInterval(() => {
      passes += 1;
      this.pass(passes % FULL_PASS_EVERY === 0 ? 'full' : 'lease').catch(() => undefined);
    }, LEASE_INTERVAL);
  }

  /** Makes exactly these VIPs bound. @throws NetlinkError, NftablesError when the kernel refuses */
  setBound(addresses: ReadonlySet<string>): Promise<void> {
    return this.#watched(this.#setBound(addresses));
  }

  /** One pass now. @throws NetlinkError, NftablesError when the kernel refuses */
  pass(pass: Pass): Promise<void> {
    return this.#watched(this.#host.reconcile(pass));
  }

  /** Stops listening and renewing. What is in the kernel stays until its lease ends. */
  close(): void {
    for (const monitor of this.#monitors) monitor.close();
    clearInterval(this.#interval);
    clearTimeout(this.#eventTimer);
    clearTimeout(this.#holdTimer);
  }

  async #setBound(addresses: ReadonlySet<string>): Promise<void> {
    this.#handlers.leaving(this.#host.found().filter(({ address }) => !addresses.has(address)));
    await this.#host.setBound(addresses);
  }

  #soon(pass: 'event' | 'nft'): void {
    if (pass === 'nft') this.#nextPass = 'nft';
    this.#eventTimer ??= setTimeout(() => {
      const next = this.#nextPass;
      this.#eventTimer = undefined;
      this.#nextPass = 'event';
      this.pass(next).catch(() => undefined);
    }, EVENT_DELAY);
  }

  #repairHoldSoon(): void {
    this.#holdTimer ??= setTimeout(() => {
      this.#holdTimer = undefined;
      this.#hold.repair().catch((error: unknown) => this.#handlers.failed(error));
    }, EVENT_DELAY);
  }

  async #watched(work: Promise<void>): Promise<void> {
    try {
      await work;
      this.#fault = undefined;
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error);
      const isNews = fault !== this.#fault;
      this.#fault = fault;
      if (isNews) this.#handlers.failed(error);
      throw error;
    }
  }
}
