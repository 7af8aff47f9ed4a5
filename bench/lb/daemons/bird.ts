import { localAsn, subnetRange } from '../../../scripts/lab/addresses.ts';
import { birdControlSocket, birdDaemon, birdView } from '../../../scripts/lab/bird.ts';
import type { HostProcess } from '../../../scripts/lab/host-process.ts';
import type { LbHost } from '../../../scripts/lab/lb-host.ts';
import { accepts, timeUntil } from './control-socket.ts';
import type { Detection, LoadBalancer } from './load-balancer.ts';

/** BIRD: the paths of all masters merged into one kernel route; it sends them nothing. */
export class Bird implements LoadBalancer {
  readonly name = 'BIRD';
  readonly #host: LbHost;
  readonly #detection: Detection;
  #process: HostProcess | undefined;

  constructor(host: LbHost, detection: Detection = {}) {
    this.#host = host;
    this.#detection = detection;
  }

  async start(): Promise<number> {
    const { address } = this.#host;
    const { bfdInterval, holdTime = 9 } = this.#detection;
    const bfd = bfdInterval === undefined ? '' : `bfd { interval ${bfdInterval} ms; multiplier 3; };`;
    const view = birdView(this.#host.path('bird'), [
      `log stderr { warning, error, fatal, auth, bug };
router id ${address};
protocol device {}
protocol direct { ipv4; interface "eth*"; }
protocol kernel {
  merge paths on limit 64;
  ipv4 { import none; export where source = RTS_BGP; };
}
${bfd === '' ? '' : 'protocol bfd {}'}
protocol bgp masters {
  local ${address} as ${localAsn};
  neighbor range ${subnetRange('ipv4', 'masters')} as ${localAsn};
  dynamic name "master";
  direct; # each master is its own next hop, on the link
  passive on;
  hold time ${holdTime};
  keepalive time ${holdTime / 3};
  ${bfd}
  error wait time 1, 1;
  error forget time 1;
  ipv4 { import all; export none; };
}`,
    ]);
    const since = performance.now();
    this.#process = this.#host.spawn('bird', birdDaemon(view));
    return timeUntil(this.#process, () => accepts(birdControlSocket(view)), since);
  }

  processes(): Readonly<Record<string, number>> {
    return { bird: this.#process?.pid ?? 0 };
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
  }
}
