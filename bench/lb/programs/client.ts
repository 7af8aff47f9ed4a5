/** Runs in the client's namespace: long connections to the VIP, without TLS, each asking its server for its name. */
import { connect, type Socket } from 'node:net';

interface Connection {
  readonly socket: Socket;
  /** The master that it was opened to. */
  readonly master: string;
  /** Why it is broken; undefined while it is whole. */
  brokenBy: string | undefined;
}

/** Connections by master, whole and broken. */
export interface Census {
  readonly whole: Readonly<Record<string, number>>;
  readonly broken: Readonly<Record<string, number>>;
  /** Why connections to masters other than the excepted one broke: an error code, `closed`, `no answer`, `another master`. */
  readonly reasons: Readonly<Record<string, number>>;
  /** The longest that an answer took, in ms: near the timeout, `no answer` may be slowness. */
  readonly slowest: number;
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
    const onEnd = (error?: unknown): void => {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'closed';
      finish(() => reject(new Error(code)));
    };
    const timer = setTimeout(() => finish(() => reject(new Error('no answer'))), timeout);
    socket.on('data', onData).on('error', onEnd).on('close', onEnd);
    if (socket.destroyed) onEnd();
    else socket.write('?\n');
  });
}

async function openOne(host: string, port: number): Promise<Connection> {
  const socket = connect({ host, port, noDelay: true });
  socket.on('error', () => undefined); // `ask` hears of it
  const connection: Connection = { socket, master: await ask(socket, 5_000), brokenBy: undefined };
  let code = 'closed';
  socket.on('error', (error: NodeJS.ErrnoException) => {
    code = error.code ?? code;
  });
  socket.on('close', () => {
    connection.brokenBy ??= code;
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
export async function check(options: { readonly timeout: number; readonly except: string }): Promise<Census> {
  let slowest = 0;
  await Promise.all(
    connections.map(async (connection) => {
      if (connection.brokenBy !== undefined) return;
      const since = performance.now();
      try {
        const answer = await ask(connection.socket, options.timeout);
        slowest = Math.max(slowest, performance.now() - since);
        if (answer !== connection.master) connection.brokenBy ??= 'another master';
      } catch (error) {
        connection.brokenBy ??= error instanceof Error ? error.message : String(error);
      }
    }),
  );
  const broken = connections.filter(({ brokenBy }) => brokenBy !== undefined);
  const reasons: Record<string, number> = {};
  for (const { master, brokenBy = '' } of broken) {
    if (master !== options.except) reasons[brokenBy] = (reasons[brokenBy] ?? 0) + 1;
  }
  return {
    whole: count(connections.filter(({ brokenBy }) => brokenBy === undefined)),
    broken: count(broken),
    reasons,
    slowest,
  };
}

function count(some: readonly Connection[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { master } of some) counts[master] = (counts[master] ?? 0) + 1;
  return counts;
}
