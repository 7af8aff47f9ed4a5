/**
 * Runs in the client's namespace: a new client every few milliseconds, each with one connection and one request. One
 * that meets the dead master is not served: it gives up before TCP repeats its SYN. (Linux sends that over another path
 * in this lab, since packets between namespaces carry the socket's own random hash.)
 */
import { connect, type Socket } from 'node:net';

/** ms between two clients. */
const interval = 5;
/** ms after which a client gives up; TCP repeats a SYN after 1000. */
const patience = 700;

/** Where the clients connect to. */
interface Target {
  readonly host: string;
  readonly port: number;
}

/** One client. */
interface Attempt {
  /** CLOCK_MONOTONIC in ns. */
  readonly at: bigint;
  readonly served: Promise<boolean>;
}

let attempts: Attempt[] = [];
let timer: NodeJS.Timeout | undefined;

/** New clients come from now on. */
export function begin(target: Target): void {
  attempts = [];
  timer = setInterval(() => {
    attempts.push({ at: process.hrtime.bigint(), served: isServed(target) });
  }, interval);
}

/** Resolves as soon as all clients of a second were served, one after the other; false when that takes longer than `timeout` ms. */
export async function calm(timeout: number): Promise<boolean> {
  const enough = 1_000 / interval;
  let [next, inRow] = [attempts.length, 0];
  for (const end = performance.now() + timeout; performance.now() < end; ) {
    const attempt = attempts[next];
    if (attempt === undefined) {
      await new Promise((resolve) => setTimeout(resolve, interval));
      continue;
    }
    next += 1;
    inRow = (await attempt.served) ? inRow + 1 : 0;
    if (inRow >= enough) return true;
  }
  return false;
}

/** No more clients come. @returns when the first of those came after whom all were served; undefined when the last was not */
export async function end(): Promise<bigint | undefined> {
  clearInterval(timer);
  const results = await Promise.all(attempts.map(({ served }) => served));
  return attempts[results.lastIndexOf(false) + 1]?.at;
}

/** One connection, one line, one answer. */
function isServed(target: Target): Promise<boolean> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ ...target, noDelay: true });
    const limit = setTimeout(() => finish(false), patience);
    const finish = (served: boolean): void => {
      clearTimeout(limit);
      if (socket.connecting) socket.destroy();
      else socket.resetAndDestroy();
      resolve(served);
    };
    socket.once('connect', () => socket.write('?\n'));
    socket.once('data', () => finish(true));
    socket.once('error', () => finish(false));
  });
}
