/** TCP connections that stay open: the server's side, which can be frozen with its process, and the clients' side. */
import { connect, createServer, type Socket } from 'node:net';
import { SockDiag } from '../index.ts';

export { SockDiag };

/** The module's type, for NetworkNamespace.start. */
export type HeldConnections = typeof import('./held-connections.ts');

/** What became of a client's connection: its error's code or `FIN`, and when (ms of the client's clock). */
export interface End {
  readonly code: string;
  readonly at: number;
}

interface Held {
  readonly socket: Socket;
  readonly port: number | undefined;
  end: End | undefined;
}

const accepted: Socket[] = [];
const held: Held[] = [];

/** Accepts connections and keeps them. `::` takes those of IPv4 too. */
export async function serve(address: string, port: number): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    socket.resume();
    accepted.push(socket);
  });
  await new Promise<void>((resolve) => server.listen(port, address, resolve));
}

/** How many connections were accepted and are still there. */
export function acceptedCount(): number {
  return accepted.filter(({ destroyed }) => !destroyed).length;
}

/** Makes connections and sends nothing. @returns their local ports */
export async function hold(address: string, port: number, count: number): Promise<number[]> {
  const made = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect({ host: address, port, allowHalfOpen: true });
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.once('connect', resolve);
      });
      const one: Held = { socket, port: socket.localPort, end: undefined };
      const ended = (code: string): void => {
        one.end ??= { code, at: performance.now() };
      };
      socket.on('error', (error: NodeJS.ErrnoException) => ended(error.code ?? error.message));
      socket.on('end', () => ended('FIN'));
      socket.resume();
      held.push(one);
      return one;
    }),
  );
  return made.map((one) => one.port ?? 0);
}

/** Closes the client's side of the connection with this local port; the server's side stays open. */
export function halfClose(port: number): void {
  held.find((one) => one.port === port)?.socket.end();
}

/** How the connections ended, in the order in which they were made; undefined for those that live. */
export function ends(): (End | undefined)[] {
  return held.map(({ end }) => end);
}

/** Waits until so many connections have ended. */
export async function untilEnded(count: number, limit: number): Promise<void> {
  const deadline = performance.now() + limit;
  while (held.filter(({ end }) => end !== undefined).length < count) {
    if (performance.now() > deadline)
      throw new Error(`not ${count} ended within ${limit} ms: ${JSON.stringify(ends())}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Ends and forgets all connections of the client. */
export function release(): void {
  for (const { socket } of held.splice(0)) socket.destroy();
}
