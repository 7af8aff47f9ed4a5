import { Socket } from 'node:net';
import { closeOnExec, Domain, SocketType } from './socket-constants.ts';
import { close, duplicateOnto, socketPair } from './syscalls.ts';

/**
 * A stream that reads datagrams of a socket of any kind, one with each read. Node takes no such descriptor, but it does take
 * one end of a socket pair; dup3(2) then puts the other socket under the same number, before the first read. The caller
 * closes its own descriptor.
 * @throws SystemCallError
 */
export function streamOf(descriptor: number): Socket {
  const type = SocketType.Stream | SocketType.NonBlocking | SocketType.CloseOnExec;
  const [ours, other] = socketPair(Domain.Unix, type);
  close(other);
  let stream: Socket | undefined;
  try {
    stream = new Socket({ fd: ours, readable: true, writable: true });
    // In the same turn of the event loop: libuv tells epoll of the descriptor when it next polls.
    duplicateOnto(descriptor, ours, closeOnExec);
    return stream;
  } catch (error) {
    if (stream === undefined) close(ours);
    else stream.destroy();
    throw error;
  }
}
