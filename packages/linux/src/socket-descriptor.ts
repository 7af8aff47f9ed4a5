/** The file descriptor behind a net.Socket. */
import type { Socket } from 'node:net';

/**
 * The descriptor of a connected socket. Node has no public way to it: `_handle.fd` has been there since its first
 * releases, and is checked here.
 */
export function descriptorOf(connected: Socket): number {
  const handle: unknown = Reflect.get(connected, '_handle');
  const fd: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : undefined;
  if (typeof fd !== 'number' || fd < 0) {
    throw new Error('the accepted connection has no file descriptor: it is closed, or not a TCP socket');
  }
  return fd;
}
