/** WireGuard in user space (wireguard-go): an interface of a host that sends to a peer, and takes from it, only the peer's addresses. */
import { writeFileSync } from 'node:fs';
import type { Host } from './host.ts';
import type { HostProcess } from './host-process.ts';
import { ipBatch } from './network-namespace.ts';
import { PrivateView } from './private-view.ts';
import { runCommand } from './run-command.ts';

const listenPort = 51820;

/** A view with the folder that wireguard-go makes its sockets in. */
export function wireguardView(folder: string): PrivateView {
  return new PrivateView(folder, { folders: [['/run/wireguard', 'root']] });
}

/** The argument list of wireguard-go, which stays in the foreground and makes the interface. */
export function wireguardDaemon(view: PrivateView, device: string): string[] {
  return view.inside(['wireguard-go', '-f', device]);
}

/** The argument list of wg(8) for its interfaces. */
export function wg(view: PrivateView, ...command: readonly string[]): string[] {
  return view.inside(['wg', ...command]);
}

/** What an interface has for the other end. */
interface WireguardPeer {
  readonly publicKey: string;
  /** `100.64.0.11/32` */
  readonly allowedIps: readonly string[];
  /** The underlay address of its host. */
  readonly endpoint: string;
  readonly port: number;
}

/** One interface. */
export class Wireguard {
  readonly device: string;
  readonly port: number;
  readonly publicKey: string;
  readonly #host: Host;
  readonly #keyFile: string;
  #view: PrivateView | undefined;
  #process: HostProcess | undefined;

  private constructor(
    host: Host,
    device: string,
    port: number,
    keys: { readonly file: string; readonly public: string },
  ) {
    this.#host = host;
    this.device = device;
    this.port = port;
    this.#keyFile = keys.file;
    this.publicKey = keys.public;
  }

  /** Makes its keys; the interface comes with `start`. */
  static async create(host: Host, device = 'wg0', port: number = listenPort): Promise<Wireguard> {
    const file = host.path(`etc/${device}.key`);
    const key = await runCommand(['wg', 'genkey']);
    writeFileSync(file, key, { mode: 0o600 });
    const publicKey = (await runCommand(['wg', 'pubkey'], { input: key })).trim();
    return new Wireguard(host, device, port, { file, public: publicKey });
  }

  /** Brings the interface up with these addresses, `100.64.0.10/24`, and peers. */
  async start(addresses: readonly string[], peers: readonly WireguardPeer[], mtu = 1280): Promise<void> {
    const view = wireguardView(this.#host.path(this.device));
    this.#view = view;
    this.#process = this.#host.spawn(this.device, wireguardDaemon(view, this.device));
    await this.#process.ready(() => view.has(`/run/wireguard/${this.device}.sock`));
    const settings = peers.flatMap(({ publicKey, allowedIps, endpoint, port }) => [
      ...['peer', publicKey, 'allowed-ips', allowedIps.join()],
      ...['endpoint', endpoint.includes(':') ? `[${endpoint}]:${port}` : `${endpoint}:${port}`],
    ]);
    await this.#wg(
      'set',
      this.device,
      'listen-port',
      `${this.port}`,
      'private-key',
      this.#keyFile,
      ...settings,
    );
    await ipBatch(this.#host.namespace, [
      `link set ${this.device} mtu ${mtu}`,
      ...addresses.map((address) => `address add ${address} dev ${this.device}`),
      `link set ${this.device} up`,
    ]);
  }

  /** The interface goes with its process. */
  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  async #wg(...command: string[]): Promise<void> {
    if (this.#view === undefined) throw new Error(`${this.device} was not started`);
    await this.#host.exec(wg(this.#view, ...command));
  }
}
