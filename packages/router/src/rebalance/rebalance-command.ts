import { setTimeout as sleep } from 'node:timers/promises';
import { ask, type Command, controlRequest, type Table, UsageError } from '@bgp-lb/daemon';
import type { Rebalance } from './rebalancer.ts';

/** Milliseconds between looks at a rebalance that goes on. */
const LOOK = 500;

/** `rebalance`: gives a member its fair share of the hash buckets, busy ones too, at a pace. */
export const rebalanceCommand: Command = {
  syntax: 'rebalance <member>',
  describe:
    'Move hash buckets to a member until it has its fair share, the longest idle first; connections in busy ones break',
  prints: true,
  asksDaemon: true,
  positionals: { member: { describe: 'name or address of a member', type: 'string' } },
  options: {
    vip: { type: 'string', requiresArg: true, describe: 'Only for this VIP; default: all' },
    rate: {
      type: 'number',
      requiresArg: true,
      default: 1,
      describe: 'Percent of all buckets that may move in a second',
    },
    'most-busy': {
      type: 'number',
      requiresArg: true,
      default: 65_535,
      describe: 'How many buckets with traffic may move in all; 0 moves idle ones only',
    },
    'no-wait': { type: 'boolean', describe: 'Return at once' },
  },
  async run(context) {
    const { member, vip, rate, 'most-busy': mostBusy } = context.args;
    if (typeof rate !== 'number' || !(rate > 0 && rate <= 100)) {
      throw new UsageError(`--rate ${String(rate)}: allowed is more than 0 and up to 100 (percent)`);
    }
    const body = { member, rate: rate / 100, mostBusy, ...(vip !== undefined && { vip }) };
    const begun = (await controlRequest(context.socket, 'POST', '/api/v1/rebalance', body)) as Rebalance[];
    const vips = begun.map((one) => one.vip);
    let now: readonly Rebalance[] = begun;
    while (context.args['no-wait'] !== true && now.some(({ state }) => state === 'running')) {
      await sleep(LOOK);
      const all = await ask<readonly Rebalance[]>(context, '/api/v1/rebalance');
      now = all.filter((one) => vips.includes(one.vip));
    }
    context.print(now, rebalanceTable);
    return now.some(({ state }) => state === 'stopped') ? 1 : 0;
  },
};

function rebalanceTable(all: readonly Rebalance[]): Table {
  return {
    columns: ['VIP', 'MEMBER', 'STATE', 'MOVED', 'BUSY', 'MISSING', 'REASON'],
    rows: all.map((one) => [one.vip, one.member, one.state, one.moved, one.busy, one.missing, one.reason]),
  };
}
