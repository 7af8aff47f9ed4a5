import { localAsn, subnetRange } from '../../../scripts/lab/addresses.ts';
import { bfdSettings } from '../../../scripts/lab/bfd-settings.ts';
import type { LbHost } from '../../../scripts/lab/lb-host.ts';
import type { JsonObject } from '../../../scripts/lab/object-store.ts';
import { isHealthy, timeUntil } from './control-socket.ts';
import type { Detection, LoadBalancer } from './load-balancer.ts';

/** Our router: the bundle, with its defaults but for `settings`. */
export class OurRouter implements LoadBalancer {
  readonly name = 'bgp-lb';
  readonly #host: LbHost;
  readonly #settings: JsonObject;
  readonly #detection: Detection;

  /** @param settings keys of router.yaml, put over the benchmark's */
  constructor(host: LbHost, settings: JsonObject = {}, detection: Detection = {}) {
    this.#host = host;
    this.#settings = settings;
    this.#detection = detection;
  }

  async start(): Promise<number> {
    const { bfdInterval, holdTime = 9 } = this.#detection;
    this.#host.writeConfig({
      neighbors: [
        {
          name: 'masters',
          role: 'master',
          range: subnetRange('ipv4', 'masters'),
          asn: localAsn,
          holdTime: `${holdTime}s`,
          bfd: bfdInterval === undefined ? false : bfdSettings(bfdInterval),
          // Neither GTSM nor TCP-MD5, as with the other daemons.
          ttlSecurityHops: 0,
        },
      ],
      log: { level: 'info' },
      ...this.#settings,
    });
    const since = performance.now();
    const router = this.#host.router.spawn();
    return timeUntil(router, () => isHealthy(this.#host.router.socketPath), since);
  }

  processes(): Readonly<Record<string, number>> {
    return { router: this.#host.router.process?.pid ?? 0 };
  }

  async stop(): Promise<void> {
    await this.#host.router.stop();
  }
}
