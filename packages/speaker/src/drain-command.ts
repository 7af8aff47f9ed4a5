import { setTimeout as sleep } from 'node:timers/promises';
import {
  ask,
  type Command,
  type CommandContext,
  controlRequest,
  parseDuration,
  UsageError,
} from '@bgp-lb/daemon';
import { type DrainStatus, drainTables } from './drain-status.ts';

/** Milliseconds between looks at a drain that goes on. */
const LOOK = 250;
/** Clients that a line of progress names. */
const NAMED = 4;

/** `drain`: gives the order and stays until nothing of the VIPs is left on this master. */
export const drainCommand: Command = {
  syntax: 'drain',
  describe:
    'Take this master out of service and wait until it is; it stays out, over restarts too, until undrain',
  prints: true,
  asksDaemon: true,
  options: {
    timeout: {
      type: 'string',
      requiresArg: true,
      describe: 'How long connections may take to end, like 90s; default: drain.timeout of the configuration',
    },
    force: { type: 'boolean', describe: 'Also when no other master is known to be in service' },
    'until-reboot': { type: 'boolean', describe: 'Forget it when the machine boots again' },
    'no-wait': { type: 'boolean', describe: 'Return at once' },
  },
  async run(context) {
    const { args } = context;
    const began = performance.now();
    await controlRequest(context.socket, 'POST', '/api/v1/drain', {
      ...(typeof args['timeout'] === 'string' ? { timeout: durationOf(args['timeout']) } : {}),
      force: args['force'] === true,
      untilReboot: args['until-reboot'] === true,
    });
    const status = args['no-wait'] === true ? await look(context) : await untilDone(context);
    const took = performance.now() - began;
    // Only what this drain has reset.
    context.print({ ...status, reset: status.reset.filter(({ agoMs }) => agoMs <= took) }, drainTables);
    // Taken back, or a trigger that ended meanwhile: this master serves again.
    return status.requestedBy.length === 0 ? 1 : 0;
  },
};

/** `undrain`: takes the order back. Other triggers stay. */
export const undrainCommand: Command = {
  syntax: 'undrain',
  describe: 'Bring this master back into service after drain',
  prints: true,
  asksDaemon: true,
  async run(context) {
    await controlRequest(context.socket, 'POST', '/api/v1/undrain');
    const status = await look(context);
    context.print(status, drainTables);
    if (status.requestedBy.length === 0) return 0;
    context.say(`still drained: ${status.requestedBy.join(', ')}`);
    return 1;
  },
};

/** @throws UsageError */
function durationOf(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined) {
    throw new UsageError(`--timeout: ${JSON.stringify(text)} is not a duration like 90s`);
  }
  return milliseconds;
}

function look(context: CommandContext): Promise<DrainStatus> {
  return ask<DrainStatus>(context, '/api/v1/drain');
}

async function untilDone(context: CommandContext): Promise<DrainStatus> {
  let said = '';
  for (;;) {
    const status = await look(context);
    const line = progress(status);
    if (line !== said) context.say(line);
    said = line;
    if (status.isDone || status.requestedBy.length === 0) return status;
    await sleep(LOOK);
  }
}

function progress({ isDone, requestedBy, vips, connections, clients }: DrainStatus): string {
  if (requestedBy.length === 0) return 'the drain was taken back';
  if (isDone) return 'drained';
  const states = vips.map(({ vip, state }) => `${vip} ${state}`).join(', ');
  if (connections === null) return `${states}; connections cannot be counted`;
  const named = clients.slice(0, NAMED).map(({ address, connections: of }) => `${address} (${of})`);
  if (clients.length > NAMED) named.push('...');
  return `${states}; connections left: ${connections}${named.length === 0 ? '' : `: ${named.join(', ')}`}`;
}
