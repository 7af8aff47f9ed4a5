/**
 * Figures of bgp-lb beside FRR and BIRD, on this machine. `npm run bench -- lb`: the load balancer's job.
 * `npm run bench -- death`: how soon a dead master is out of the kernel.
 *
 *   --json      print one JSON object in place of the tables
 *   --deaths N  death: how many of each kind, with each daemon; default 10, which takes about ten minutes
 *   --rounds N  lb:  how often each daemon is measured; default 3, which takes ten to eleven minutes on a busy machine of two cores
 */
import { setPriority } from 'node:os';
import { parseArgs } from 'node:util';
import { describeDeath } from './death/describe-death.ts';
import { measureDeath } from './death/measure-death.ts';
import { describe } from './lb/describe.ts';
import { figures } from './lb/figures.ts';
import { measureLb } from './lb/measure-lb.ts';

/** Other work on the machine shows less in the figures; what is started here has it too, all daemons alike. */
const niceness = -10;
const usage = 'usage: npm run bench -- lb [--json] [--rounds N] | death [--json] [--deaths N]';

interface Arguments {
  readonly bench: 'lb' | 'death';
  readonly isJson: boolean;
  readonly rounds: number;
  readonly deaths: number;
}

/** Undefined when they cannot be understood. */
function readArguments(argv: string[]): Arguments | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      options: { json: { type: 'boolean' }, rounds: { type: 'string' }, deaths: { type: 'string' } },
      allowPositionals: true,
    });
    const bench = positionals.join(' ');
    if (bench !== 'lb' && bench !== 'death') return undefined;
    const [rounds, deaths] = [Number(values.rounds ?? 3), Number(values.deaths ?? 10)];
    if (![rounds, deaths].every((count) => Number.isInteger(count) && count >= 1)) return undefined;
    return { bench, isJson: values.json === true, rounds, deaths };
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
  if (given.bench === 'death') {
    const report = await measureDeath({ deaths: given.deaths, niceness, progress });
    console.log(given.isJson ? JSON.stringify(report) : describeDeath(report));
    return 0;
  }
  const report = await measureLb({ rounds: given.rounds, niceness, progress });
  console.log(given.isJson ? JSON.stringify({ ...report, figures: figures(report) }) : describe(report));
  return 0;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // The lab's guardian removes the lab as soon as this process has ended.
  process.once(signal, () => process.exit(signal === 'SIGINT' ? 130 : 143));
}
process.exit(await main());
