import { ask, type Command } from '@bgp-lb/daemon';
import { fibTables } from '../api/tables.ts';
import type { DataPlaneStatus } from '../dataplane/data-plane.ts';
import { type FibReport, fibReportTables } from './fib-report.ts';

/** `fib`: what the data plane does. With `--diff` what of it is not as wanted; exit code 1 when there is something. */
export const fibCommand: Command = {
  syntax: 'fib',
  describe: 'Show what the kernel does, or HAProxy, with the share of each member',
  prints: true,
  asksDaemon: true,
  options: {
    diff: {
      type: 'boolean',
      describe: 'show what there is against what the router wants; status 1 when something differs',
    },
  },
  async run(context) {
    if (context.args['diff'] !== true) {
      context.print(await ask<DataPlaneStatus>(context, '/api/v1/fib'), fibTables);
      return 0;
    }
    const report = await ask<FibReport>(context, '/api/v1/fib/differences');
    context.print(report, fibReportTables);
    return report.differences.length === 0 ? 0 : 1;
  },
};
