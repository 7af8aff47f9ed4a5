/** A BGP session of a few lines: a peer that costs little beside what it measures. It decodes nothing but what opens the session. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  asn,
  encodeMessage,
  type Frame,
  Framer,
  ipv4Unicast,
  keepalive,
  localOpen,
  MAX_MESSAGE_LENGTH,
  openContext,
  parseRouterId,
} from '@bgp-lb/protocol';

export interface RawSessionOptions {
  readonly local: string;
  readonly remote: string;
  readonly asn: number;
  /** In seconds. */
  readonly holdTime: number;
  /** A KEEPALIVE has come. */
  readonly onKeepalive?: () => void;
  /** An UPDATE has come; its octets are the socket's own and are not to be kept. */
  readonly onUpdate?: (frame: Frame) => void;
}

/** An established session. */
export interface RawSession {
  /** Whole messages only: KEEPALIVEs of the timer go between two writes. */
  readonly socket: Socket;
  /** Why the session has ended; undefined while it lasts. */
  readonly failure: string | undefined;
  close(): void;
}

/** Message types (RFC 4271 section 4.1). */
const type = { open: 1, update: 2, notification: 3, keepalive: 4 } as const;
/** How long a daemon may take to listen, or to take a session, in ms. */
const patience = 60_000;

/** Opens a session, again and again while the daemon does not listen yet; resolves once it is established on this side. */
export async function openRawSession(options: RawSessionOptions, retryMs = 100): Promise<RawSession> {
  for (const limit = performance.now() + patience; ; ) {
    try {
      return await establish(options);
    } catch (error) {
      if (performance.now() > limit) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}

async function establish(options: RawSessionOptions): Promise<RawSession> {
  const { local, remote, holdTime, onKeepalive, onUpdate } = options;
  const context = openContext(asn(options.asn));
  const keepaliveOctets = encodeMessage(keepalive, context);
  const socket = connect({ host: remote, port: 179, localAddress: local });
  let failure: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const framer = new Framer(MAX_MESSAGE_LENGTH);
  const established = new Promise<void>((resolve, reject) => {
    const fail = (reason: string): void => {
      failure ??= reason;
      clearInterval(timer);
      reject(new Error(reason));
    };
    socket.on('error', (error) => fail(error.message));
    socket.on('close', () => fail('the daemon closed the session'));
    socket.on('data', (chunk: Uint8Array) => {
      framer.push(chunk);
      for (let frame = framer.next(); frame !== undefined; frame = framer.next()) {
        if (frame.type === type.open) socket.write(keepaliveOctets);
        if (frame.type === type.notification) fail(`NOTIFICATION ${frame.bytes[19]}/${frame.bytes[20]}`);
        if (frame.type === type.update) onUpdate?.(frame);
        if (frame.type !== type.keepalive) continue;
        onKeepalive?.();
        resolve();
      }
    });
  });
  // Its rejection is awaited below, after the connection's own.
  established.catch(() => undefined);
  try {
    await once(socket, 'connect');
    socket.setNoDelay(true);
    socket.write(encodeMessage(ourOpen(local, options.asn, holdTime), context));
    await established;
  } catch (error) {
    socket.destroy();
    throw error;
  }
  timer = setInterval(() => socket.write(keepaliveOctets), (holdTime * 1000) / 3);
  return {
    socket,
    get failure() {
      return failure;
    },
    close: () => socket.destroy(),
  };
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

/** Writes chunks of whole messages as fast as they are taken; resolves once the kernel has all of them. Rejects when the session ends. */
export async function writeAll(session: RawSession, chunks: readonly Uint8Array[]): Promise<void> {
  for (const chunk of chunks) {
    if (session.failure !== undefined) throw new Error(session.failure);
    if (!session.socket.write(chunk)) await drained(session.socket);
  }
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
