/**
 * Figures of bgp-lb beside FRR and BIRD, on this machine. `npm run bench -- lb`: the load balancer's job.
 * `npm run bench -- death`: how soon a dead master is out of the kernel. `npm run bench -- ingest`: how fast a large table is
 * taken in, and GoBGP and OpenBGPD beside. `npm run bench -- speaker`: how soon what happens to a master is in the kernel of the
 * load balancer.
 *
 *   --json      print one JSON object in place of the tables
 *   --deaths N  death: how many of each kind, with each daemon; default 10, which takes about ten minutes
 *   --prefixes N  ingest: one table of so many, in place of 100,000 and 1,000,000
 *   --rounds N  speaker: how often each event happens, default 10; lb and ingest: how often each daemon is measured; default 3, which takes ten to eleven minutes on a busy machine of two cores
 */
import { setPriority } from 'node:os';
import { parseArgs } from 'node:util';
import { describeDeath } from './death/describe-death.ts';
import { measureDeath } from './death/measure-death.ts';
import { describeIngest } from './ingest/describe-ingest.ts';
import { measureIngest } from './ingest/measure-ingest.ts';
import { describe } from './lb/describe.ts';
import { figures } from './lb/figures.ts';
import { measureLb } from './lb/measure-lb.ts';
import { describeSpeaker } from './speaker/describe-speaker.ts';
import { measureSpeaker } from './speaker/measure-speaker.ts';

/** Other work on the machine shows less in the figures; what is started here has it too, all daemons alike. */
const niceness = -10;
const usage =
  'usage: npm run bench -- lb [--json] [--rounds N] | death [--json] [--deaths N] | ingest [--json] [--rounds N] [--prefixes N] | speaker [--json] [--rounds N]';

interface Arguments {
  readonly bench: 'lb' | 'death' | 'ingest' | 'speaker';
  readonly isJson: boolean;
  readonly rounds: number;
  readonly deaths: number;
  readonly sizes: readonly number[];
}

/** Undefined when they cannot be understood. */
function readArguments(argv: string[]): Arguments | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      options: {
        json: { type: 'boolean' },
        rounds: { type: 'string' },
        deaths: { type: 'string' },
        prefixes: { type: 'string' },
      },
      allowPositionals: true,
    });
    const bench = positionals.join(' ');
    if (bench !== 'lb' && bench !== 'death' && bench !== 'ingest' && bench !== 'speaker') return undefined;
    const usualRounds = bench === 'speaker' ? 10 : 3;
    const [rounds, deaths] = [Number(values.rounds ?? usualRounds), Number(values.deaths ?? 10)];
    const sizes = values.prefixes === undefined ? [100_000, 1_000_000] : [Number(values.prefixes)];
    if (![rounds, deaths, ...sizes].every((count) => Number.isInteger(count) && count >= 1)) return undefined;
    return { bench, isJson: values.json === true, rounds, deaths, sizes };
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
  if (given.bench === 'ingest') {
    const report = await measureIngest({ rounds: given.rounds, sizes: given.sizes, niceness, progress });
    console.log(given.isJson ? JSON.stringify(report) : describeIngest(report));
    return 0;
  }
  if (given.bench === 'speaker') {
    const report = await measureSpeaker({ rounds: given.rounds, niceness, progress });
    console.log(given.isJson ? JSON.stringify(report) : describeSpeaker(report));
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
