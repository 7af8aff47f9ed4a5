/** Runs in the client's namespace: long connections to the VIP, without TLS, each asking its server for its name. */
import { connect, type Socket } from 'node:net';

interface Connection {
  readonly socket: Socket;
  /** The master that it was opened to. */
  readonly master: string;
  isBroken: boolean;
}

/** Connections by master, whole and broken. */
export interface Census {
  readonly whole: Readonly<Record<string, number>>;
  readonly broken: Readonly<Record<string, number>>;
}

const parallel = 50;
let connections: Connection[] = [];

/** Sends one line and resolves with the answer; rejects when the connection breaks or nothing comes in time. */
function ask(socket: Socket, timeout: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      socket.off('data', onData).off('error', onEnd).off('close', onEnd);
      settle();
    };
    const onData = (text: Buffer): void => finish(() => resolve(text.toString('latin1').trim()));
    const onEnd = (): void => finish(() => reject(new Error('closed')));
    const timer = setTimeout(() => finish(() => reject(new Error('no answer'))), timeout);
    socket.on('data', onData).on('error', onEnd).on('close', onEnd);
    if (socket.destroyed) onEnd();
    else socket.write('?\n');
  });
}

async function openOne(host: string, port: number): Promise<Connection> {
  const socket = connect({ host, port, noDelay: true });
  socket.on('error', () => undefined); // `ask` hears of it
  const connection = { socket, master: await ask(socket, 5_000), isBroken: false };
  socket.on('close', () => {
    connection.isBroken = true;
  });
  return connection;
}

/** Closes all connections and opens `count` new ones; rejects when one cannot be opened. */
export async function open(target: {
  readonly host: string;
  readonly port: number;
  readonly count: number;
}): Promise<Record<string, number>> {
  for (const { socket } of connections) socket.destroy();
  connections = [];
  for (let left = target.count; left > 0; left -= parallel) {
    const some = Array.from({ length: Math.min(left, parallel) }, () => openOne(target.host, target.port));
    connections.push(...(await Promise.all(some)));
  }
  return count(connections);
}

/** Asks on every connection: it is whole when the master that it was opened to answers within `timeout` ms. */
export async function check(timeout: number): Promise<Census> {
  await Promise.all(
    connections.map(async (connection) => {
      if (connection.isBroken) return;
      const answer = await ask(connection.socket, timeout).catch(() => undefined);
      if (answer !== connection.master) connection.isBroken = true;
    }),
  );
  return {
    whole: count(connections.filter(({ isBroken }) => !isBroken)),
    broken: count(connections.filter(({ isBroken }) => isBroken)),
  };
}

function count(some: readonly Connection[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { master } of some) counts[master] = (counts[master] ?? 0) + 1;
  return counts;
}
