/** FRR and BIRD as neighbors that restart, or help us to restart (RFC 4724), on a host of the lab. */
import { localAsn } from '../../scripts/lab/addresses.ts';
import { Bird } from '../../scripts/lab/bird.ts';
import { Frr } from '../../scripts/lab/frr.ts';
import type { Host } from '../../scripts/lab/host.ts';

/** How a neighbor is started. */
export interface NeighborSettings {
  /** Our end. */
  readonly remote: string;
  /** What it announces. */
  readonly prefixes: readonly string[];
  /** It comes back after a restart. */
  readonly isRestarting: boolean;
  /** It says that it has kept forwarding (the F bit). */
  readonly isForwarding: boolean;
}

/** A neighbor's BGP daemon. */
export interface Neighbor {
  start(settings: NeighborSettings): Promise<void>;
  /** kill -9 of what speaks BGP. What programs the kernel stays, where that is another process. */
  kill(): Promise<void>;
  /** The prefixes that it has of us. */
  received(): Promise<string[]>;
}

/** bgpd of FRR, with zebra, which is not killed. */
export class FrrNeighbor implements Neighbor {
  readonly #host: Host;
  readonly #frr: Frr;

  constructor(host: Host) {
    this.#host = host;
    this.#frr = new Frr(host);
  }

  async start({ remote, prefixes, isRestarting, isForwarding }: NeighborSettings): Promise<void> {
    const config = [
      `router bgp ${localAsn}`,
      ` bgp router-id ${this.#host.address}`,
      ' no bgp network import-check',
      ' bgp graceful-restart',
      ...(isForwarding ? [' bgp graceful-restart preserve-fw-state'] : []),
      ` neighbor ${remote} remote-as ${localAsn}`,
      ` neighbor ${remote} timers 3 9`,
      ` neighbor ${remote} timers connect 1`,
      ' address-family ipv4 unicast',
      ...prefixes.map((prefix) => `  network ${prefix}`),
    ];
    if (isRestarting) await this.#frr.startBgpd(config);
    else await this.#frr.start(config);
  }

  kill(): Promise<void> {
    return this.#frr.killBgpd();
  }

  async received(): Promise<string[]> {
    const { routes } = await this.#frr.show<{ routes?: Record<string, readonly { peerId?: string }[]> }>(
      'show bgp ipv4 unicast json',
    );
    return Object.entries(routes ?? {})
      .filter(([, paths]) => paths.some(({ peerId }) => peerId !== undefined && peerId !== '(unspec)'))
      .map(([prefix]) => prefix)
      .sort();
  }
}

/** BIRD, which is one process. It keeps what its last life left in the kernel when it is started with `-R`. */
export class BirdNeighbor implements Neighbor {
  readonly #host: Host;
  readonly #bird: Bird;

  constructor(host: Host) {
    this.#host = host;
    this.#bird = new Bird(host);
  }

  async start({ remote, prefixes, isRestarting, isForwarding }: NeighborSettings): Promise<void> {
    const config = `graceful restart wait 10;
protocol direct { ipv4; interface "eth*"; }
protocol kernel { graceful restart; ipv4 { import none; export where source = RTS_BGP; }; }
protocol static { ipv4; ${prefixes.map((prefix) => `route ${prefix} blackhole;`).join(' ')} }
protocol bgp lb {
  local ${this.#host.address} as ${localAsn};
  neighbor ${remote} as ${localAsn};
  direct;
  hold time 9;
  connect delay time 1;
  connect retry time 1;
  error wait time 1, 1;
  graceful restart on;
  ipv4 { import all; export where source = RTS_STATIC; next hop self; };
}`;
    await this.#bird.start([config], isRestarting && isForwarding ? ['-R'] : []);
  }

  kill(): Promise<void> {
    return this.#bird.kill();
  }

  async received(): Promise<string[]> {
    const text = await this.#bird.birdc('show', 'route', 'protocol', 'lb');
    return text
      .split('\n')
      .flatMap((line) => /^(\d\S+\/\d+)/.exec(line)?.[1] ?? [])
      .sort();
  }
}
