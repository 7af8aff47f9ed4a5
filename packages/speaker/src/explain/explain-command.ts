import { ask, type Command } from '@bgp-lb/daemon';
import { type ExplainedStatus, explain, explanationTables } from './explain.ts';

/** `explain`: why the VIPs are as they are here. */
export const explainCommand: Command = {
  syntax: 'explain',
  describe: 'Say of each thing that the VIPs depend on since when it is as it is, why, and what changes it',
  prints: true,
  asksDaemon: true,
  async run(context) {
    const status = await ask<ExplainedStatus>(context, '/api/v1/status');
    context.print(explain(status), explanationTables);
  },
};
