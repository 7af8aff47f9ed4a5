/** One end of a TCP connection in a network namespace: an echo server with keys, or a client. */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import {
  type LinuxListeningSocket,
  linuxSockets,
  type NeighborSocketOptions,
  openTcpSocket,
  RouteSocket,
} from '../index.ts';
import { descriptorOf } from '../socket-descriptor.ts';
import { getSocketOption } from '../syscalls.ts';
import { parseNetstat } from '../tcp-md5-counters.ts';

export { openDescriptors, rejectionOf, thrownBy, until } from './subject.ts';
export { linuxSockets, openTcpSocket, RouteSocket };

/** The module's type, for NetworkNamespace.start. */
export type TcpPeer = typeof import('./tcp-peer.ts');

let listening: LinuxListeningSocket | undefined;
const accepted: Socket[] = [];
let received = '';

/** Listens and echoes what it gets. Forgets what the listener before it saw. */
export async function listen(
  address: string,
  options: NeighborSocketOptions = {},
): Promise<LinuxListeningSocket['port']> {
  await listening?.close();
  for (const socket of accepted.splice(0)) socket.destroy();
  received = '';
  listening = await linuxSockets.listen({ address, port: 0, backlog: 64 }, (socket) => {
    accepted.push(socket);
    socket.on('error', () => {});
    linuxSockets.accepted(socket, options);
    socket.on('data', (chunk) => {
      received += chunk.toString();
      socket.write(chunk);
    });
  });
  return listening.port;
}

/** Sets or removes a key of the listener. */
export function setPassword(prefix: string, password: string | undefined): void {
  listening?.setPassword(prefix, password);
}

/** What the listener has seen so far. */
export function seen(): { connections: number; received: string } {
  return { connections: accepted.length, received };
}

/** A number of a socket option as it is set on the last accepted connection. */
export function acceptedOption(level: number, name: number): number {
  const socket = accepted.at(-1);
  if (socket === undefined) throw new Error('nothing was accepted');
  return getSocketOption(descriptorOf(socket), level, name, `${level}/${name}`);
}

/** A counter of this namespace: `TCPMD5Failure`, `TCPMinTTLDrop`. */
export function counter(name: string): number {
  return parseNetstat(readFileSync('/proc/self/net/netstat', 'utf8'), 'TcpExt').get(name) ?? 0;
}

/** How an attempt ends: what was echoed, the error's code, or whatever `stop` saw first. */
export async function exchange(
  socket: Socket,
  port: number,
  address: string,
  stop: () => string | undefined = () => undefined,
): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const outcome = await new Promise<string>((resolve) => {
    timer = setInterval(() => {
      const reason = stop();
      if (reason !== undefined) resolve(reason);
    }, 10);
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on('data', (chunk) => resolve(chunk.toString()));
    socket.connect(port, address, () => socket.write('ping'));
  });
  clearInterval(timer);
  socket.destroy();
  return outcome;
}

let held: Socket | undefined;

/** Connects and sends nothing; the connection stays until the next one is held. */
export async function hold(socket: Socket, port: number, address: string): Promise<void> {
  held?.destroy();
  held = socket;
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.connect(port, address, resolve);
  });
}

/** The source address of the connection that is held. */
export function heldAddress(): string | undefined {
  return held?.localAddress;
}

/** A number of a socket option as it is set on the connection that is held. */
export function heldOption(level: number, name: number): number {
  if (held === undefined) throw new Error('nothing is held');
  return getSocketOption(descriptorOf(held), level, name, `${level}/${name}`);
}

/** Sends something on the connection that is held. */
export function writeHeld(text: string): void {
  held?.write(text);
}
