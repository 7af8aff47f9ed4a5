/** Runs in the client's namespace: connections without TLS, each asking its server for its name by lines. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where clients connect to, in turn. */
export interface Targets {
  readonly hosts: readonly string[];
  readonly port: number;
}

/** New connections, one after the other at each of some clients. */
export interface NewConnections {
  readonly served: number;
  readonly failed: number;
  readonly tookMs: number;
}

/** After that a client gives a connection up, in ms. */
const patience = 2_000;
/** Requests on long connections, each so many ms. */
const every = 2;

/** Each of `clients` connects, asks, gets its answer, closes and begins again, for `duration` ms. */
export async function connections(options: {
  readonly targets: Targets;
  readonly clients: number;
  readonly duration: number;
}): Promise<NewConnections> {
  const since = performance.now();
  const end = since + options.duration;
  let [served, failed, next] = [0, 0, 0];
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      const socket = open(options.targets, next++);
      if ((await answer(socket)) === undefined) failed += 1;
      else served += 1;
      // Without TIME_WAIT: ports would run out, and that is not what is measured.
      socket.resetAndDestroy();
    }
  };
  await Promise.all(Array.from({ length: options.clients }, client));
  return { served, failed, tookMs: performance.now() - since };
}

/** Opens `count` connections, then asks on one after the other at a steady pace for `duration` ms. @returns ms of each answer */
export async function latency(options: {
  readonly targets: Targets;
  readonly count: number;
  readonly duration: number;
}): Promise<{ readonly took: number[]; readonly failed: number }> {
  const sockets: Socket[] = [];
  for (let n = 0; n < options.count; n += 1) {
    const socket = open(options.targets, n);
    sockets.push(socket);
    if ((await answer(socket)) === undefined) throw new Error(`connection ${n + 1} could not be opened`);
  }
  const took: number[] = [];
  let failed = 0;
  const asked: Promise<void>[] = [];
  const idle = [...sockets];
  const since = performance.now();
  while (performance.now() - since < options.duration) {
    // As many as are due: a late timer must not make the pace slower.
    while (asked.length < (performance.now() - since) / every) {
      const socket = idle.shift();
      if (socket === undefined) break;
      const at = performance.now();
      asked.push(
        answer(socket).then((text) => {
          if (text === undefined) failed += 1;
          else took.push(performance.now() - at);
          idle.push(socket);
        }),
      );
    }
    await sleep(1);
  }
  await Promise.all(asked);
  for (const socket of sockets) socket.resetAndDestroy();
  return { took, failed };
}

function open({ hosts, port }: Targets, n: number): Socket {
  const host = hosts[n % hosts.length] ?? '';
  const socket = connect({ host, port, noDelay: true });
  socket.on('error', () => undefined); // `answer` hears of it
  return socket;
}

/** Sends a line; resolves with the answer, or undefined where there is none. */
function answer(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    const finish = (text: string | undefined): void => {
      clearTimeout(limit);
      socket.off('data', onData).off('close', onClose).off('error', onClose);
      resolve(text);
    };
    const onData = (text: Buffer): void => finish(text.toString('latin1').trim());
    const onClose = (): void => finish(undefined);
    const limit = setTimeout(onClose, patience);
    socket.on('data', onData).on('close', onClose).on('error', onClose);
    if (socket.destroyed) onClose();
    else socket.write('?\n');
  });
}
