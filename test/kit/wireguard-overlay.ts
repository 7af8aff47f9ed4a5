import type { Host } from '../../scripts/lab/host.ts';
import { Wireguard } from '../../scripts/lab/wireguard.ts';

/** The overlay address of a host of the lab: it ends as its address on the masters' subnet does. */
export function overlayAddress({ address }: Host): string {
  return `100.64.0.${address.split('.').at(-1)}`;
}

/** The interface of one host in an overlay of all. */
interface OverlayEnd {
  readonly host: Host;
  readonly wireguard: Wireguard;
}

/** An overlay of these hosts, with an MTU of 1280: each is a peer of each, by its overlay address and no other. */
export class WireguardOverlay {
  readonly #ends: readonly OverlayEnd[];

  private constructor(ends: readonly OverlayEnd[]) {
    this.#ends = ends;
  }

  static async create(hosts: readonly Host[]): Promise<WireguardOverlay> {
    return new WireguardOverlay(
      await Promise.all(hosts.map(async (host) => ({ host, wireguard: await Wireguard.create(host) }))),
    );
  }

  /** Takes the interface of a host away, with its addresses and routes. */
  async stop(host: Host): Promise<void> {
    await this.#ends.find((end) => end.host === host)?.wireguard.stop();
  }

  /** Brings up the interfaces of these hosts. */
  async start(hosts: readonly Host[]): Promise<void> {
    const starting = this.#ends.filter(({ host }) => hosts.includes(host));
    await Promise.all(
      starting.map(({ host, wireguard }) => {
        const peers = this.#ends
          .filter((other) => other.host !== host)
          .map(({ host: other, wireguard: { publicKey, port } }) => ({
            publicKey,
            port,
            allowedIps: [`${overlayAddress(other)}/32`],
            endpoint: other.address,
          }));
        return wireguard.start([`${overlayAddress(host)}/24`], peers);
      }),
    );
  }
}
