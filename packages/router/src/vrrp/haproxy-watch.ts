import type { Clock } from '@bgp-lb/protocol/node';
import { RunTimeClient } from '../dataplane/haproxy/run-time-client.ts';

/** Between two questions (ms). */
const INTERVAL = 100;
/** HAProxy answers within microseconds; one that does not do so for so long serves no client (ms). */
const TIME_LIMIT = 1_000;

/** Whether HAProxy lives: faster than its data plane looks at it, since a peer is to serve within half a second. */
export function haproxyWatch(
  socket: string,
  clock: Clock,
): { readonly fault: string | undefined; stop(): void } {
  const client = new RunTimeClient(socket, TIME_LIMIT);
  let fault: string | undefined = 'HAProxy was not asked yet';
  let cancel: () => void = () => undefined;
  let isStopped = false;
  const ask = async (): Promise<void> => {
    try {
      await client.ask('show version');
      fault = undefined;
    } catch (error) {
      fault = error instanceof Error ? error.message : String(error);
    }
    if (!isStopped) cancel = clock.after(INTERVAL, () => void ask());
  };
  void ask();
  return {
    get fault() {
      return fault;
    },
    stop: () => {
      isStopped = true;
      cancel();
    },
  };
}
