/** One end of UDP exchanges in a network namespace: our receiver and sender, and plain sockets with a chosen TTL. */
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import { type LinuxUdpReceiver, type LinuxUdpSender, linuxUdpSockets } from '../udp-socket.ts';

export { openDescriptors, thrownBy, until } from './subject.ts';
export { linuxUdpSockets };

/** The module's type, for NetworkNamespace.start. */
export type UdpPeer = typeof import('./udp-peer.ts');

let receiver: LinuxUdpReceiver | undefined;
let received: { text: string; from: string }[] = [];

/** Opens our receiver and forgets what the one before it got. */
export function receive(version: 4 | 6, port: number, onlyTtl255: boolean): void {
  receiver?.close();
  received = [];
  receiver = linuxUdpSockets.receive(
    { version, port, onlyTtl255 },
    (payload, source) => received.push({ text: Buffer.from(payload).toString(), from: source() }),
    (error) => received.push({ text: error.message, from: 'error' }),
  );
}

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** The link-local address of an interface with its zone, once it may be used. */
export function linkLocalAddress(device: string): string | undefined {
  const tentative = execFileSync('ip', ['-6', 'address', 'show', 'dev', device, 'tentative'], {
    encoding: 'utf8',
  });
  const found = networkInterfaces()[device]?.find(({ address }) => address.startsWith('fe80:'));
  return found === undefined || tentative !== '' ? undefined : `${found.address}%${device}`;
}

/** What has arrived. */
export function seen(): readonly { text: string; from: string }[] {
  return received;
}

/** Closes what was opened. */
export function closeAll(): void {
  receiver?.close();
  receiver = undefined;
}

/** Sends texts from an ordinary socket, each with its TTL or hop limit. */
export async function sendPlain(
  version: 4 | 6,
  target: { address: string; port: number },
  datagrams: readonly { ttl: number; text: string }[],
): Promise<void> {
  const socket = createSocket(version === 4 ? 'udp4' : 'udp6');
  await new Promise<void>((resolve) => socket.bind(0, resolve));
  for (const { ttl, text } of datagrams) {
    socket.setTTL(ttl);
    await new Promise<void>((resolve, reject) => {
      socket.send(text, target.port, target.address, (error) => (error === null ? resolve() : reject(error)));
    });
  }
  socket.close();
}

/** Sends one text by our sender. @returns its source port */
export function sendOnce(remoteAddress: string, remotePort: number, text: string): number {
  const sender: LinuxUdpSender = linuxUdpSockets.open({ remoteAddress, remotePort });
  sender.send(Buffer.from(text));
  sender.close();
  return sender.port;
}
