import { writeFileSync } from 'node:fs';
import { localAsn, subnets } from '../../../scripts/lab/addresses.ts';
import type { HostProcess } from '../../../scripts/lab/host-process.ts';
import type { LbHost } from '../../../scripts/lab/lb-host.ts';
import { accepts, timeUntil } from './control-socket.ts';
import type { LoadBalancer } from './load-balancer.ts';

/** BIRD: the paths of all masters merged into one kernel route; it sends them nothing. */
export class Bird implements LoadBalancer {
  readonly name = 'BIRD';
  readonly #host: LbHost;
  #process: HostProcess | undefined;

  constructor(host: LbHost) {
    this.#host = host;
  }

  async start(): Promise<number> {
    const { address } = this.#host;
    const [config, control] = [this.#host.path('etc/bird.conf'), this.#host.path('run/bird.ctl')];
    const { prefix, length } = subnets.masters;
    writeFileSync(
      config,
      `log stderr { warning, error, fatal, auth, bug };
router id ${address};
protocol device {}
protocol direct { ipv4; interface "eth*"; }
protocol kernel {
  merge paths on limit 64;
  ipv4 { import none; export where source = RTS_BGP; };
}
protocol bgp masters {
  local ${address} as ${localAsn};
  neighbor range ${prefix}.0/${length} as ${localAsn};
  dynamic name "master";
  direct; # each master is its own next hop, on the link
  passive on;
  hold time 9;
  keepalive time 3;
  error wait time 1, 1;
  error forget time 1;
  ipv4 { import all; export none; };
}
`,
    );
    const since = performance.now();
    this.#process = this.#host.spawn('bird', ['bird', '-f', '-c', config, '-s', control]);
    return timeUntil(this.#process, () => accepts(control), since);
  }

  processes(): Readonly<Record<string, number>> {
    return { bird: this.#process?.pid ?? 0 };
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
  }
}
