import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import type { KeyPair } from './test-certificates.ts';

/** A server on a free loopback port, for a probe to meet. */
export interface ProbeTarget {
  readonly port: number;
  /** TCP connections accepted so far. */
  readonly connections: () => number;
  /** Cuts all connections and stops listening. */
  close(): Promise<void>;
}

async function listening(server: Server): Promise<ProbeTarget> {
  let count = 0;
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    count += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    connections: () => count,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** An HTTPS server; with more TLS options, it may ask for the client's certificate. */
export function httpsTarget(
  pair: KeyPair & TlsOptions,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<ProbeTarget> {
  return listening(createHttpsServer(pair, handle));
}

/** A TLS server whose connections the test writes to itself; `accept` sees the TCP connection before its handshake. */
export function tlsTarget(
  pair: KeyPair & TlsOptions,
  handle: (socket: TLSSocket) => void,
  accept?: (socket: Socket) => void,
): Promise<ProbeTarget> {
  const server = createTlsServer(pair, (socket) => {
    socket.on('error', () => undefined);
    handle(socket);
  });
  if (accept !== undefined) server.on('connection', accept);
  server.on('tlsClientError', () => undefined);
  return listening(server);
}

/** A TCP server. */
export function tcpTarget(handle: (socket: Socket) => void): Promise<ProbeTarget> {
  return listening(createServer(handle));
}
