import type { Clock } from '@bgp-lb/protocol/node';
import type { UpstreamAdvertiser } from '../bgp/upstream-advertiser.ts';
import type { DataPlane } from '../dataplane/data-plane.ts';
import type { Pool } from '../pool/pool.ts';

/** Two lines for the service manager are at least so far apart (ms): a member that flaps must not keep it busy. */
const GAP = 1000;
/** Octets of ASCII; `systemctl status` shows one line. */
const MOST = 512;

/** A VIP in one line. */
export interface ServedVip {
  /** `10.100.0.1/32` */
  readonly vip: string;
  /** Members that packets go to. */
  readonly forwarding: number;
  /** Members that are known. */
  readonly members: number;
  /** Of each upstream, whether it has the VIP. */
  readonly upstreams: readonly boolean[];
}

/** The VIPs as they are served at the moment. */
export function servedVips(
  pools: ReadonlyMap<string, Pick<Pool, 'members'>>,
  dataPlane: Pick<DataPlane, 'forwarding'>,
  advertiser: Pick<UpstreamAdvertiser, 'advertisements'>,
): ServedVip[] {
  return [...pools].map(([vip, pool]) => ({
    vip,
    forwarding: dataPlane.forwarding(vip).length,
    members: pool.members().length,
    upstreams: advertiser.advertisements(vip).map(({ advertised }) => advertised),
  }));
}

/**
 * `STATUS=` of sd_notify(3): what `systemctl status` shows in one line.
 * @param title of the data plane
 * @param problem what keeps it from being as the router wants it
 */
export function serviceStatusLine(
  vips: readonly ServedVip[],
  isDraining: boolean,
  title: string,
  problem: string | undefined,
): string {
  const parts = vips.map(({ vip, forwarding, members, upstreams }) => {
    const address = vip.split('/')[0] ?? vip;
    const told = upstreams.filter((advertised) => advertised).length;
    const advertised =
      upstreams.length === 0 ? '' : `, advertised to ${told} of ${upstreams.length} upstreams`;
    return `${address} ${forwarding === 0 ? 'forwarded to nobody' : `forwarded to ${forwarding}`} of ${members} members${advertised}`;
  });
  // A newline would begin another assignment.
  const trouble =
    problem === undefined ? '' : `${title} is not as wanted: ${problem.replaceAll(/\s+/g, ' ')}; `;
  const text = `${trouble}${isDraining ? 'drained; ' : ''}${parts.join('; ')}`;
  return `STATUS=${text.length > MOST ? `${text.slice(0, MOST - 3)}...` : text}`;
}

/** Tells the service manager what the router does, when it has changed and not more than once a second. */
export class ServiceStatus {
  readonly #clock: Clock;
  readonly #read: () => string;
  readonly #tell: (line: string) => void;
  #told = '';
  #lookedAt = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;

  constructor(options: {
    readonly clock: Clock;
    /** The line as it is now. */
    readonly read: () => string;
    readonly tell: (line: string) => void;
  }) {
    this.#clock = options.clock;
    this.#read = options.read;
    this.#tell = options.tell;
  }

  /** Something that the line is made of may have changed. */
  touch(): void {
    if (this.#cancel !== undefined) return;
    const wait = Math.max(0, this.#lookedAt + GAP - this.#clock.now());
    this.#cancel = this.#clock.after(wait, () => {
      this.#cancel = undefined;
      this.#look();
    });
  }

  /** Nothing is told any more. */
  close(): void {
    this.#cancel?.();
    // A touch after this waits for ever.
    this.#cancel = () => undefined;
  }

  #look(): void {
    this.#lookedAt = this.#clock.now();
    const line = this.#read();
    if (line === this.#told) return;
    this.#told = line;
    this.#tell(line);
  }
}
