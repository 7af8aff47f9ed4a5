/**
 * `npm run bench -- lb`: figures of bgp-lb beside FRR and BIRD, on this machine.
 *
 *   --json      print one JSON object in place of the tables
 *   --rounds N  how often each daemon is measured; default 3, which takes nine to ten minutes
 */
import { setPriority } from 'node:os';
import { parseArgs } from 'node:util';
import { describe } from './lb/describe.ts';
import { figures } from './lb/figures.ts';
import { measureLb } from './lb/measure-lb.ts';

/** Other work on the machine shows less in the figures; what is started here has it too, all daemons alike. */
const niceness = -10;
const usage = 'usage: npm run bench -- lb [--json] [--rounds N]';

interface Arguments {
  readonly isJson: boolean;
  readonly rounds: number;
}

/** Undefined when they cannot be understood. */
function readArguments(argv: string[]): Arguments | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      options: { json: { type: 'boolean' }, rounds: { type: 'string' } },
      allowPositionals: true,
    });
    const rounds = Number(values.rounds ?? 3);
    if (positionals.join(' ') !== 'lb' || !Number.isInteger(rounds) || rounds < 1) return undefined;
    return { isJson: values.json === true, rounds };
  } catch {
    return undefined;
  }
}

async function main(): Promise<number> {
  const given = readArguments(process.argv.slice(2));
  if (given === undefined) {
    console.error(usage);
    return 2;
  }
  setPriority(niceness);
  const since = performance.now();
  const progress = (line: string): void =>
    console.error(`${((performance.now() - since) / 1000).toFixed(0).padStart(5)} s  ${line}`);
  const report = await measureLb({ rounds: given.rounds, niceness, progress });
  console.log(given.isJson ? JSON.stringify({ ...report, figures: figures(report) }) : describe(report));
  return 0;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // The lab's guardian removes the lab as soon as this process has ended.
  process.once(signal, () => process.exit(signal === 'SIGINT' ? 130 : 143));
}
process.exit(await main());
