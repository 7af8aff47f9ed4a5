import type { Clock } from '@bgp-lb/protocol/node';
import { type RunTimeClient, RunTimeError } from '../dataplane/haproxy/run-time-client.ts';

/** Between two questions (ms). */
const INTERVAL = 100;
/** One answer may be late, as on a host that was paused: so many in a row serve no client. */
const SILENCES = 2;

/**
 * Whether HAProxy lives: faster than its data plane looks at it, since a peer is to serve within half a second where it is gone. One that
 * is there and silent counts after twice the time limit of `client`.
 */
export function haproxyWatch(
  client: Pick<RunTimeClient, 'ask'>,
  clock: Pick<Clock, 'after'>,
): { readonly fault: string | undefined; stop(): void } {
  let fault: string | undefined = 'HAProxy was not asked yet';
  let cancel: () => void = () => undefined;
  let isStopped = false;
  let silences = 0;
  const ask = async (): Promise<void> => {
    try {
      await client.ask('show version');
      fault = undefined;
      silences = 0;
    } catch (error) {
      silences = error instanceof RunTimeError && error.reason === 'silent' ? silences + 1 : SILENCES;
      if (silences >= SILENCES) {
        fault = error instanceof Error ? error.message : String(error);
      }
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
