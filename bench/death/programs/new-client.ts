/**
 * Runs in the client's namespace: a client whose connection goes to one certain master. The kernel of the load balancer
 * hashes addresses and ports, so that the same source port meets the same master until the pool changes.
 */
import { connect, type Socket } from 'node:net';

/** Source ports that are tried. */
const ports = { first: 20_000, last: 29_999 } as const;
let nextPort: number = ports.first;

/** Where the clients connect to. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Finds a source port by which connections go to a master of this name. */
export async function portTo({
  target,
  master,
}: {
  readonly target: Target;
  readonly master: string;
}): Promise<number> {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    nextPort = nextPort === ports.last ? ports.first : nextPort + 1;
    if ((await ask(target, nextPort, 1_000)) === master) return nextPort;
  }
  throw new Error(`no source port leads to ${master}`);
}

/** Asks anew, each time by a new connection from this port, until somebody answers. */
export async function untilServed({
  target,
  port,
  patience,
  timeout,
}: {
  readonly target: Target;
  readonly port: number;
  /** ms after which one attempt is given up: less than it takes TCP to repeat a SYN. */
  readonly patience: number;
  readonly timeout: number;
}): Promise<{ readonly master: string; readonly at: bigint } | undefined> {
  const end = performance.now() + timeout;
  while (performance.now() < end) {
    const master = await ask(target, port, patience);
    if (master !== undefined) return { master, at: process.hrtime.bigint() };
  }
  return undefined;
}

/** One connection, one line, one answer: the master's name. */
function ask(target: Target, localPort: number, patience: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ ...target, localPort, noDelay: true });
    const timer = setTimeout(() => finish(undefined), patience);
    const finish = (answer: string | undefined): void => {
      clearTimeout(timer);
      // By RST: the port is free at once, here and there.
      if (socket.connecting) socket.destroy();
      else socket.resetAndDestroy();
      resolve(answer);
    };
    socket.once('connect', () => socket.write('?\n'));
    socket.once('data', (text: Buffer) => finish(text.toString('latin1').trim()));
    socket.once('error', () => {
      clearTimeout(timer);
      // Refused at once: not in a tight loop.
      setTimeout(() => resolve(undefined), 2);
    });
  });
}
