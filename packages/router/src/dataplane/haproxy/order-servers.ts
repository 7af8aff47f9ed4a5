import type { Clock } from '@bgp-lb/protocol/node';
import type { HaproxyProcess } from './haproxy-process.ts';
import { RunTimeError } from './run-time-client.ts';
import type { ServerCommand } from './server-difference.ts';

/**
 * Has HAProxy do these, in their order. One that is refused keeps none of the others waiting.
 * @param tell how long each took (ms), and why it failed
 * @param errors gets those that there were
 * @returns the commands that were done
 */
export async function orderServers(
  commands: readonly ServerCommand[],
  { haproxy, clock }: { readonly haproxy: Pick<HaproxyProcess, 'order'>; readonly clock: Clock },
  tell: (operation: string, took: number, error: string | undefined) => void,
  errors: unknown[],
): Promise<ServerCommand[]> {
  const done: ServerCommand[] = [];
  for (const one of commands) {
    const { command, expected } = one;
    const begun = clock.now();
    const kind = command.split(' ', 2).join('-');
    try {
      await haproxy.order(command, expected);
      tell(kind, clock.now() - begun, undefined);
      done.push(one);
    } catch (error) {
      tell(kind, clock.now() - begun, error instanceof Error ? error.message : String(error));
      errors.push(error);
      // It does not answer at all: each further command would wait as long.
      if (error instanceof RunTimeError && error.reason !== 'refused') break;
    }
  }
  return done;
}
