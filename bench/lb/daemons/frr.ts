import { existsSync } from 'node:fs';
import {
  hostAddress,
  localAsn,
  masterNumber,
  maxMasters,
  subnetRange,
} from '../../../scripts/lab/addresses.ts';
import {
  type FrrDaemon,
  frrControlSocket,
  frrDaemon,
  frrView,
  writeFrrConfig,
  zebraClientSocket,
} from '../../../scripts/lab/frr.ts';
import type { HostProcess } from '../../../scripts/lab/host-process.ts';
import type { LbHost } from '../../../scripts/lab/lb-host.ts';
import type { PrivateView } from '../../../scripts/lab/private-view.ts';
import { accepts, timeUntil } from './control-socket.ts';
import type { Detection, LoadBalancer } from './load-balancer.ts';

/** FRR: bgpd and zebra, IBGP multipath over all masters; it sends them nothing. */
export class Frr implements LoadBalancer {
  readonly name = 'FRR';
  readonly #host: LbHost;
  readonly #detection: Detection;
  #zebra: HostProcess | undefined;
  #bfdd: HostProcess | undefined;
  #bgpd: HostProcess | undefined;

  constructor(host: LbHost, detection: Detection = {}) {
    this.#host = host;
    this.#detection = detection;
  }

  async start(): Promise<number> {
    const view = frrView(this.#host.path('frr'));
    writeFrrConfig(view, 'zebra', [`hostname ${this.#host.name}`]);
    writeFrrConfig(view, 'bgpd', this.#bgpConfig());
    if (this.#detection.bfdInterval !== undefined) writeFrrConfig(view, 'bfdd', []);
    const since = performance.now();
    this.#zebra = this.#spawn('zebra', view);
    await timeUntil(this.#zebra, async () => existsSync(zebraClientSocket(view)), since);
    if (this.#detection.bfdInterval !== undefined) {
      this.#bfdd = this.#spawn('bfdd', view);
      await timeUntil(this.#bfdd, () => accepts(frrControlSocket(view, 'bfdd')), since);
    }
    this.#bgpd = this.#spawn('bgpd', view);
    return timeUntil(this.#bgpd, () => accepts(frrControlSocket(view, 'bgpd')), since);
  }

  processes(): Readonly<Record<string, number>> {
    return { bgpd: this.#bgpd?.pid ?? 0, zebra: this.#zebra?.pid ?? 0 };
  }

  async stop(): Promise<void> {
    await this.#bgpd?.stop();
    await this.#bfdd?.stop();
    await this.#zebra?.stop();
  }

  #spawn(name: FrrDaemon, view: PrivateView): HostProcess {
    return this.#host.spawn(name, frrDaemon(view, name, ['--log-level', 'warnings']));
  }

  #bgpConfig(): string[] {
    const { bfdInterval, holdTime = 9 } = this.#detection;
    const range = [` bgp listen range ${subnetRange('ipv4', 'masters')} peer-group masters`];
    // FRR 8.4 has no BFD with the members of a range: with BFD each master is named.
    const named = Array.from({ length: maxMasters }, (_, n) =>
      hostAddress('ipv4', 'masters', masterNumber(n + 1)),
    ).flatMap((address) => [
      ` neighbor ${address} peer-group masters`,
      ` neighbor ${address} passive`,
      ` neighbor ${address} bfd 3 ${bfdInterval} ${bfdInterval}`,
    ]);
    return [
      `hostname ${this.#host.name}`,
      `router bgp ${localAsn}`,
      ` bgp router-id ${this.#host.address}`,
      ' no bgp default ipv4-unicast',
      ' neighbor masters peer-group',
      ` neighbor masters remote-as ${localAsn}`,
      ` neighbor masters timers ${holdTime / 3} ${holdTime}`,
      ...(bfdInterval === undefined ? range : named),
      ' address-family ipv4 unicast',
      '  neighbor masters activate',
      '  neighbor masters route-map nothing out',
      '  maximum-paths ibgp 64',
      ' exit-address-family',
      'route-map nothing deny 10',
    ];
  }
}
