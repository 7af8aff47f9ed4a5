/** A peer that brings a session into a state, sends one hostile message, and notes the answer. Runs in a namespace. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import {
  type Asn,
  asn,
  encodeMessage,
  ipv4Unicast,
  keepalive,
  localOpen,
  openContext,
  parseRouterId,
} from '@bgp-lb/protocol';

/** The module's type, for NamespaceProcess. */
export type HostilePeer = typeof import('./hostile-peer.ts');

/** States in which a passive router reads what a peer sends; before, there is no connection. */
export const readingStates = ['OpenSent', 'OpenConfirm', 'Established'] as const;
export type ReadingState = (typeof readingStates)[number];

export interface Attempt {
  /** An address of its own for each: what fails often is kept waiting. */
  readonly from: string;
  readonly to: string;
  readonly state: ReadingState;
  readonly hex: string;
}

/** A line of test/vectors/fatal.jsonl: what ended, hung or reset others, and what is to be answered in each state. */
export interface FatalVector {
  readonly name: string;
  readonly hex: string;
  readonly answers: Readonly<Record<ReadingState, Answer>>;
}

/** All of them. */
export function fatalVectors(): readonly FatalVector[] {
  return readFileSync(new URL('../vectors/fatal.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line): FatalVector => JSON.parse(line));
}

/** `kept` where the session went on, `closed` where it ended without a word, else the NOTIFICATION. */
export type Answer = 'kept' | 'closed' | `${number}/${number}`;

/** Of the peer. */
export const remoteAsn: Asn = asn(65001);
const context = openContext(remoteAsn);
/** After the hostile message: no marker. A session that still reads answers 1/1 to it, so that nothing need be waited for. */
const probe = new Uint8Array(19);

const patience = 20_000;

/** What became of connections of strangers. */
export interface FloodResult {
  /** Told why, by a NOTIFICATION. */
  told: number;
  /** Closed without a word, or reset. */
  closed: number;
  /** Neither within `patience`. */
  left: number;
}

/** Connects so many times, as fast as is answered, each time from the next of the addresses; says nothing and waits for the end. */
export async function flood(options: {
  readonly from: readonly string[];
  readonly to: string;
  readonly count: number;
}): Promise<FloodResult> {
  const result: FloodResult = { told: 0, closed: 0, left: 0 };
  let next = 0;
  const stranger = async (): Promise<void> => {
    for (let n = next++; n < options.count; n = next++) {
      result[await connectOnce(options.to, options.from[n % options.from.length] ?? '')] += 1;
    }
  };
  await Promise.all(Array.from({ length: 64 }, stranger));
  return result;
}

function connectOnce(to: string, from: string): Promise<keyof FloodResult> {
  return new Promise((resolve) => {
    let received = 0;
    const socket = connect({ host: to, port: 179, localAddress: from });
    socket.setTimeout(patience, () => {
      resolve('left');
      socket.destroy();
    });
    socket.on('data', (chunk) => {
      received += chunk.length;
    });
    // Closed with a RST, as what is destroyed at once may be.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => resolve(received > 0 ? 'told' : 'closed'));
  });
}

/** Plays several attempts at a time, in order. */
export async function play(attempts: readonly Attempt[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  let next = 0;
  const player = async (): Promise<void> => {
    for (let n = next++; n < attempts.length; n = next++) {
      const attempt = attempts[n];
      if (attempt !== undefined) answers[n] = await playOne(attempt);
    }
  };
  await Promise.all(Array.from({ length: 6 }, player));
  return answers;
}

async function playOne(attempt: Attempt): Promise<Answer> {
  const { from, to, state } = attempt;
  const socket = connect({ host: to, port: 179, localAddress: from });
  socket.setTimeout(patience, () => socket.destroy(new Error(`${from} in ${state}: no answer`)));
  await once(socket, 'connect');
  return playOn(socket, attempt);
}

/** Plays one attempt on a connection that is there, made by either side. */
export async function playOn(
  socket: Socket,
  { from, state, hex }: Pick<Attempt, 'from' | 'state' | 'hex'>,
): Promise<Answer> {
  const peer = new Received(socket);
  try {
    // Its OPEN says that it is in OpenSent.
    await peer.until((types) => types.includes(1));
    if (state !== 'OpenSent') {
      socket.write(ourOpen(from));
      // Its KEEPALIVE says OpenConfirm; what follows ours is read in Established.
      await peer.until((types) => types.includes(4));
    }
    if (state === 'Established') socket.write(encodeMessage(keepalive, context));
    socket.write(Buffer.from(hex, 'hex'));
    socket.write(probe);
    await peer.end();
    return peer.answer();
  } finally {
    socket.destroy();
  }
}

function ourOpen(from: string): Uint8Array {
  const open = localOpen({
    asn: remoteAsn,
    routerId: parseRouterId(from),
    holdTime: 90,
    families: [ipv4Unicast],
    addPathSend: [],
    addPathReceive: [],
    extendedMessage: true,
    enhancedRouteRefresh: false,
    gracefulRestart: undefined,
  });
  return encodeMessage(open, context);
}

/** What came on a connection, as types of messages and the last NOTIFICATION. */
class Received {
  readonly #socket: Socket;
  #bytes = Buffer.alloc(0);
  #isOver = false;
  #error: Error | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // Its socket may be gone while the probe is on its way.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') this.#error = error;
    });
    socket.once('close', () => {
      this.#isOver = true;
    });
  }

  async until(condition: (types: readonly number[]) => boolean): Promise<void> {
    while (!condition(this.#messages().map((message) => message[18] ?? 0))) {
      if (this.#isOver) throw this.#error ?? new Error(`closed after ${this.#bytes.toString('hex')}`);
      await this.#next('data', 'close');
    }
  }

  async end(): Promise<void> {
    while (!this.#isOver) await this.#next('close');
    if (this.#error !== undefined) throw this.#error;
  }

  answer(): Answer {
    const last = this.#messages().at(-1);
    if (last?.[18] !== 3) return 'closed';
    const [code = 0, subcode = 0] = last.subarray(19);
    return code === 1 && subcode === 1 ? 'kept' : `${code}/${subcode}`;
  }

  /** Resolves with one of the events, whatever becomes of the socket meanwhile. */
  #next(...events: readonly string[]): Promise<void> {
    return new Promise((resolve) => {
      const settle = (): void => {
        for (const event of events) this.#socket.off(event, settle);
        resolve();
      };
      for (const event of events) this.#socket.on(event, settle);
    });
  }

  #messages(): Buffer[] {
    const found: Buffer[] = [];
    for (let at = 0; at + 19 <= this.#bytes.length; ) {
      const end = at + Math.max(19, this.#bytes.readUInt16BE(at + 16));
      if (end > this.#bytes.length) break;
      found.push(this.#bytes.subarray(at, end));
      at = end;
    }
    return found;
  }
}
