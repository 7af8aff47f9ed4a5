import { ask, type Command, UsageError } from '@bgp-lb/daemon';
import { type ExplainedNeighbor, type ExplainedStatus, explain, explanationTables } from './explain.ts';

/** `explain`: why a VIP is as it is here. */
export const explainCommand: Command = {
  syntax: 'explain [vip]',
  describe: 'Say of each thing that a VIP depends on since when it is as it is, why, and what changes it',
  prints: true,
  asksDaemon: true,
  positionals: { vip: { describe: 'address of a VIP; all without it', type: 'string' } },
  async run(context) {
    const [status, neighbors] = await Promise.all([
      ask<ExplainedStatus>(context, '/api/v1/status'),
      ask<readonly ExplainedNeighbor[]>(context, '/api/v1/neighbors'),
    ]);
    const all = explain(status, neighbors);
    const { vip } = context.args;
    const wanted =
      typeof vip === 'string' ? all.filter((one) => one.vip.split('/')[0] === vip.split('/')[0]) : all;
    if (wanted.length === 0) {
      throw new UsageError(`no VIP ${String(vip)}; there are: ${all.map((one) => one.vip).join(', ')}`);
    }
    context.print(wanted, explanationTables);
  },
};
