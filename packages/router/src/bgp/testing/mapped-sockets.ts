import { createServer, Socket, type SocketConnectOpts } from 'node:net';
import type { Sockets } from '@bgp-lb/protocol/node';

/** `10.a.b.c` in these tests is `127.a.b.c` on the wire: loopback is no next hop, and this host has no other network. */
function toLoopback(address: string): string {
  return address.replace(/^10\./, '127.');
}

function fromLoopback(address: string | undefined): string | undefined {
  return address?.replace(/^127\./, '10.');
}

class MappedSocket extends Socket {
  readonly #localAddress: string | undefined;

  constructor(localAddress: string | undefined) {
    super();
    this.#localAddress = localAddress;
    showMapped(this);
  }

  override connect(
    target: SocketConnectOpts | number | string,
    host?: string | (() => void),
    listener?: () => void,
  ): this {
    if (typeof target !== 'number' || typeof host !== 'string') {
      throw new TypeError('connect: expected a port and a literal address');
    }
    const local = this.#localAddress === undefined ? {} : { localAddress: toLoopback(this.#localAddress) };
    return super.connect({ port: target, host: toLoopback(host), ...local }, listener);
  }
}

/** Lets a socket show its addresses as 10.a.b.c. */
function showMapped(socket: Socket): void {
  for (const name of ['localAddress', 'remoteAddress'] as const) {
    Object.defineProperty(socket, name, {
      configurable: true,
      get: () => fromLoopback(Reflect.get(Socket.prototype, name, socket)),
    });
  }
}

/** TCP over loopback for speakers with addresses in 10.0.0.0/8. Passwords and GTSM are left out. */
export const mappedSockets: Sockets = {
  open: (_remoteAddress, { localAddress }) => new MappedSocket(localAddress),
  accepted: () => undefined,
  async listen({ address, port }, onConnection) {
    const server = createServer((socket) => {
      showMapped(socket);
      onConnection(socket);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, toLoopback(address), resolve);
    });
    return {
      address,
      port,
      setPassword: () => undefined,
      close: () => new Promise((resolve) => server.close(() => resolve())),
    };
  },
};
