import { setTimeout as sleep } from 'node:timers/promises';
import { ask, type Command, controlRequest, parseDuration, UsageError } from '@bgp-lb/daemon';
import type { DrainState } from './host-drain.ts';

/** Milliseconds between looks at a drain that goes on. */
const LOOK = 100;
/** Milliseconds; in a minute every upstream has moved on. */
const LONGEST_WAIT = 3_600_000;

/** `drain`: this load balancer leaves, for its maintenance. */
export const drainCommand: Command = {
  syntax: 'drain',
  describe:
    'Have upstreams prefer other load balancers, wait, and withdraw the VIPs; what still comes is forwarded. Returns when that is done',
  asksDaemon: true,
  options: {
    wait: {
      type: 'string',
      requiresArg: true,
      default: '10s',
      describe: 'Time between the request to prefer others and the withdrawal',
    },
  },
  async run(context) {
    const wait = milliseconds(context.args['wait']);
    let state = (await controlRequest(context.socket, 'POST', '/api/v1/drain', { wait })) as DrainState;
    while (state.phase === 'leaving') {
      await sleep(LOOK);
      state = await ask<DrainState>(context, '/api/v1/drain');
    }
    if (state.phase === 'none') {
      context.say('the drain was ended by somebody else');
      return 1;
    }
    context.write('drained: nothing is announced; undrain, or a restart of the router, serves again\n');
    return 0;
  },
};

/** `undrain`: serves again. */
export const undrainCommand: Command = {
  syntax: 'undrain',
  describe: 'Announce the VIPs again',
  asksDaemon: true,
  async run(context) {
    await controlRequest(context.socket, 'POST', '/api/v1/undrain');
    context.write('announced again\n');
    return 0;
  },
};

function milliseconds(text: unknown): number {
  const value = typeof text === 'string' ? parseDuration(text) : undefined;
  if (value === undefined || value < 0 || value > LONGEST_WAIT) {
    throw new UsageError(`--wait ${String(text)}: allowed is a duration up to 1h, as 10s`);
  }
  return value;
}
