/** A net.Socket around a descriptor whose options were set before, which never loses them. */
import { Socket, type SocketConnectOpts, type SocketConstructorOpts } from 'node:net';

/**
 * Node makes a new handle, without the options, when a socket is connected that was closed before, or by a name that
 * it looks up. A key or a TTL check that is gone would go unnoticed, so both are refused here.
 */
export class PreparedSocket extends Socket {
  readonly #remoteAddress: string;

  /** @param remoteAddress the only address that it connects to */
  constructor(fd: number, remoteAddress: string) {
    // Without manualStart Node reads at once, and an unconnected socket answers ENOTCONN, after which it is closed.
    const options: SocketConstructorOpts & { readonly manualStart: boolean } = { fd, manualStart: true };
    super(options);
    this.#remoteAddress = remoteAddress;
  }

  /** @throws Error when the socket is closed or was meant for another address */
  override connect(options: SocketConnectOpts, connectionListener?: () => void): this;
  override connect(port: number, host: string, connectionListener?: () => void): this;
  override connect(port: number, connectionListener?: () => void): this;
  override connect(path: string, connectionListener?: () => void): this;
  override connect(...parameters: readonly unknown[]): this {
    const host = hostIn(parameters);
    if (host !== this.#remoteAddress) {
      throw new Error(`this socket was opened for ${this.#remoteAddress}, not for ${String(host)}`);
    }
    if (this.destroyed) {
      throw new Error(
        `the socket for ${this.#remoteAddress} is closed and its options with it: open another`,
      );
    }
    Reflect.apply(super.connect, this, parameters);
    return this;
  }
}

function hostIn([first, second]: readonly unknown[]): unknown {
  return typeof first === 'object' && first !== null && 'host' in first ? first.host : second;
}
