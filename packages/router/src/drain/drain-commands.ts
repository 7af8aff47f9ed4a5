import { setTimeout as sleep } from 'node:timers/promises';
import {
  ask,
  type Command,
  type CommandContext,
  controlRequest,
  parseDuration,
  UsageError,
} from '@bgp-lb/daemon';
import type { DrainState } from './host-drain.ts';
import { LONGEST_DRAIN, type MemberDrain } from './member-drains.ts';

/** Milliseconds between looks at a drain that goes on. */
const LOOK = 100;
/** By default upstreams have this time, and live connections of a member that one. */
const WAITS = { host: '10s', member: '60s' } as const;

/** `drain`: this load balancer leaves, for its maintenance, or takes one member out. */
export const drainCommand: Command = {
  syntax: 'drain [member]',
  describe:
    'Have upstreams prefer other load balancers, wait, and withdraw the VIPs; what still comes is forwarded. With a member: give it no new connections, wait, and take it out of the pool here. Returns when that is done',
  asksDaemon: true,
  positionals: { member: { describe: 'name or address of a member; without it this load balancer itself' } },
  options: {
    wait: {
      type: 'string',
      requiresArg: true,
      describe: `Time until the VIPs are withdrawn (${WAITS.host}), or live connections of the member are given up (${WAITS.member})`,
    },
    force: { type: 'boolean', describe: 'also a member without which nobody would serve' },
  },
  run(context) {
    const { member, wait, force } = context.args;
    if (typeof member === 'string') {
      return drainMember(context, member, milliseconds(wait ?? WAITS.member), force === true);
    }
    if (force === true) throw new UsageError('--force: only with a member');
    return drainHost(context, milliseconds(wait ?? WAITS.host));
  },
};

async function drainHost(context: CommandContext, wait: number): Promise<number> {
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
}

async function drainMember(
  context: CommandContext,
  name: string,
  wait: number,
  force: boolean,
): Promise<number> {
  const order = { member: name, wait, force };
  // The daemon is of the same release.
  let drain = (await controlRequest(context.socket, 'POST', '/api/v1/member-drains', order)) as
    | MemberDrain
    | undefined;
  const { member } = drain as MemberDrain;
  while (drain !== undefined && drain.leavesInMs > 0 && drain.inUse.length > 0) {
    await sleep(LOOK);
    const all = await ask<MemberDrain[]>(context, '/api/v1/member-drains');
    drain = all.find((one) => one.member === member);
  }
  if (drain === undefined) {
    context.say('the drain was ended by somebody else');
    return 1;
  }
  if (drain.inUse.length > 0) {
    context.say(`${member} is kept for ${drain.inUse.join(', ')} with the least weight: nobody else serves`);
    return 1;
  }
  context.write(`${member} is out here, also after a restart; \`undrain ${member}\` takes it back\n`);
  return 0;
}

/** `undrain`: serves again, or takes a member back. */
export const undrainCommand: Command = {
  syntax: 'undrain [member]',
  describe: 'Announce the VIPs again. With a member: take it into the pool again',
  asksDaemon: true,
  positionals: { member: { describe: 'name or address of a member; without it this load balancer itself' } },
  async run(context) {
    const { member } = context.args;
    if (typeof member === 'string') {
      await controlRequest(context.socket, 'POST', '/api/v1/member-undrain', { member });
      context.write(`${member} is taken back when it is good\n`);
      return 0;
    }
    await controlRequest(context.socket, 'POST', '/api/v1/undrain');
    context.write('announced again\n');
    return 0;
  },
};

function milliseconds(text: unknown): number {
  const value = typeof text === 'string' ? parseDuration(text) : undefined;
  if (value === undefined || value < 0 || value > LONGEST_DRAIN) {
    throw new UsageError(`--wait ${String(text)}: allowed is a duration up to 1h, as 10s`);
  }
  return value;
}
