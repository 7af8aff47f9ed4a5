/** A peer that sends a table as fast as it is taken, and notes when KEEPALIVEs come meanwhile. Runs in a namespace. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  asn,
  encodeMessage,
  Framer,
  ipv4Unicast,
  keepalive,
  localOpen,
  MAX_MESSAGE_LENGTH,
  openContext,
  parseIpAddress,
  parseRouterId,
} from '@bgp-lb/protocol';
import { type EncodedTable, encodedTable } from '../encoded-table.ts';

/** The module's type, for NamespaceProcess. */
export type Feeder = typeof import('./feeder.ts');

export interface FeederOptions {
  readonly local: string;
  readonly remote: string;
  readonly asn: number;
  /** In seconds. */
  readonly holdTime: number;
  readonly prefixes: number;
}

/** What is known once all is written. */
export interface FeedFigures {
  /** From the first octet to the last one's way into the kernel, in ms. */
  readonly writtenMs: number;
  readonly updates: number;
  readonly attributeSets: number;
  readonly bytes: number;
}

const context = openContext(asn(65001));
let socket: Socket | undefined;
let table: EncodedTable | undefined;
let keepaliveTimer: NodeJS.Timeout | undefined;
/** When KEEPALIVEs came, in ms of this process. */
let arrivals: number[] = [];
let failure: string | undefined;

/** Opens the session; resolves once it is established. */
export async function open(options: FeederOptions): Promise<void> {
  const { local, remote, holdTime } = options;
  table = encodedTable(options.prefixes, { asn: options.asn, address: parseIpAddress(local).bytes });
  for (const limit = performance.now() + 30_000; ; ) {
    try {
      await establish(local, remote, options.asn, holdTime);
      return;
    } catch (error) {
      // The daemon may not listen yet.
      if (performance.now() > limit) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function establish(local: string, remote: string, number: number, holdTime: number): Promise<void> {
  failure = undefined;
  const stream = connect({ host: remote, port: 179, localAddress: local });
  await once(stream, 'connect');
  stream.setNoDelay(true);
  const framer = new Framer(MAX_MESSAGE_LENGTH);
  const established = new Promise<void>((resolve, reject) => {
    stream.on('error', (error) => fail(error.message, reject));
    stream.on('close', () => fail('the daemon closed the session', reject));
    stream.on('data', (chunk: Uint8Array) => {
      framer.push(chunk);
      for (let frame = framer.next(); frame !== undefined; frame = framer.next()) {
        if (frame.type === 1) stream.write(encodeMessage(keepalive, context));
        if (frame.type === 3) fail(`NOTIFICATION ${frame.bytes[19]}/${frame.bytes[20]}`, reject);
        if (frame.type !== 4) continue;
        arrivals.push(performance.now());
        resolve();
      }
    });
  });
  stream.write(encodeMessage(ourOpen(local, number, holdTime), context));
  await established;
  socket = stream;
  clearInterval(keepaliveTimer);
  keepaliveTimer = setInterval(() => stream.write(encodeMessage(keepalive, context)), (holdTime * 1000) / 3);
}

function ourOpen(local: string, number: number, holdTime: number): ReturnType<typeof localOpen> {
  return localOpen({
    asn: asn(number),
    routerId: parseRouterId(local),
    holdTime,
    families: [ipv4Unicast],
    addPathSend: [],
    addPathReceive: [],
    extendedMessage: false,
    gracefulRestart: undefined,
    enhancedRouteRefresh: false,
  });
}

function fail(reason: string, reject: (error: Error) => void): void {
  failure ??= reason;
  reject(new Error(reason));
}

/** Sends the table; resolves once the kernel has all of it. */
export async function feed(): Promise<FeedFigures> {
  if (socket === undefined || table === undefined) throw new Error('the session is not open');
  const { chunks, updates, attributeSets } = table;
  arrivals = [];
  const since = performance.now();
  for (const chunk of chunks) {
    if (failure !== undefined) throw new Error(failure);
    // KEEPALIVEs of the timer go between two chunks, hence between messages.
    if (!socket.write(chunk)) await drained(socket);
  }
  const writtenMs = performance.now() - since;
  return { writtenMs, updates, attributeSets, bytes: chunks.reduce((sum, { length }) => sum + length, 0) };
}

async function drained(stream: Socket): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  try {
    await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })]);
  } finally {
    over.abort();
  }
}

/** ms between KEEPALIVEs since `feed` began, the last one to now included. */
export function keepaliveGaps(): number[] {
  if (failure !== undefined) throw new Error(failure);
  const times = [...arrivals, performance.now()];
  return times.slice(1).map((time, n) => time - (times[n] ?? time));
}
