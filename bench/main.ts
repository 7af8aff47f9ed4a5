/**
 * Figures of bgp-lb beside the daemons of others, on this machine; `npm run bench -- NAME`, or without a name for this text.
 */
import { setPriority } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchOptions, benches } from './benches.ts';
import { type DaemonName, daemonNames } from './bgp/daemon.ts';
import { figures, figureTable } from './figures.ts';
import { type BenchName, benchNames, readRecorded, record } from './record/recorded-report.ts';
import { runAll } from './record/run-all.ts';
import { endStep, exitWithFailures, runStep } from './record/run-step.ts';
import { stepsOfAll } from './record/steps.ts';
import { mostSessions } from './sessions/measure-sessions.ts';

/** Other work on the machine shows less in the figures; what is started here has it too, all daemons alike. */
const niceness = -10;
const usage = `usage: npm run bench -- all --record FOLDER [--rounds N]
       npm run bench -- NAME [--record FOLDER] [--json] [--rounds N] [--bfd MS] [--prefixes N] [--sessions N]
                             [--daemons NAME,NAME] [--single-file FILE] [--seconds N] [--alone]

  all       every one of them, some 55 minutes on two slow cores; goes on when one fails

  evidence  what the counting of clients' packets costs the kernel that forwards them; --rounds (7)
  rest      what a speaker needs that has nothing to do; --single-file (dist/bgp-lb-speaker), --seconds of a reading (30)
  speaker   how soon what happens to a master is in the load balancer's kernel; --rounds: how often (10)
  reflect   how fast a table is reflected to nine clients, beside FRR, BIRD, GoBGP and OpenBGPD; --prefixes (100000)
  death     how soon a dead master is out of the kernel, beside FRR and BIRD; --rounds: deaths of each kind (10);
            --bfd 50 or 300: only those that BFD at this interval notices
  ingest    how fast a table is taken in, beside all four; --prefixes (100000, then 1000000)
  sessions  how soon sessions of dynamic neighbors are there and what they cost, beside all four; --sessions (1000)
  traffic   what clients get: kernel and HAProxy as our data planes, FRR, BIRD, HAProxy by kubeadm's guide, no load balancer;
            --rounds (5), some two and a half minutes each
  lb        the load balancer's job, beside FRR and BIRD, and then traffic; --alone leaves that out

  --record  writes the report with every sample to FOLDER/NAME.json; docs/benchmarks has those of the documentation
  --json    one JSON object in place of the tables
  --daemons of ingest, reflect and sessions: these only (bgp-lb,FRR,BIRD,GoBGP,OpenBGPD)
  --rounds  how often each daemon is measured (3)

Exit status: 0, 1 a benchmark failed, 2 wrong usage, 3 part of a benchmark failed and the report says what.`;

/** What the command line says. */
interface Arguments extends BenchOptions {
  readonly name: BenchName | 'all';
  readonly isJson: boolean;
  readonly isAlone: boolean;
  readonly folder: string | undefined;
}

/** Undefined when they cannot be understood. */
function readArguments(argv: string[]): Arguments | undefined {
  try {
    const text = { type: 'string' } as const;
    const { values, positionals } = parseArgs({
      args: argv,
      options: {
        ...{ json: { type: 'boolean' }, alone: { type: 'boolean' } },
        ...{ record: text, daemons: text, 'single-file': text },
        ...{ rounds: text, bfd: text, prefixes: text, sessions: text, seconds: text },
      },
      allowPositionals: true,
    });
    const sessions = countOf(values.sessions);
    if ((sessions ?? 0) > mostSessions) throw new RangeError(`at most ${mostSessions} sessions`);
    const folder = values.record === undefined ? undefined : resolve(values.record);
    const name = nameOf(positionals);
    if (name === 'all' && folder === undefined) throw new RangeError('all: --record FOLDER is missing');
    return {
      ...{ name, isJson: values.json === true, isAlone: values.alone === true, folder, sessions },
      singleFile: values['single-file'],
      rounds: countOf(values.rounds),
      bfd: countOf(values.bfd),
      prefixes: countOf(values.prefixes),
      seconds: countOf(values.seconds),
      daemons: daemonsOf(values.daemons),
    };
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

function nameOf(positionals: readonly string[]): Arguments['name'] {
  const [given = '', ...others] = positionals;
  const name = (['all', ...benchNames] as const).find((each) => each === given);
  if (name === undefined || others.length > 0)
    throw new RangeError(`expected one of all, ${benchNames.join(', ')}`);
  return name;
}

function countOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9][0-9]*$/.test(text)) throw new RangeError(`${text}: expected a number from 1`);
  return Number(text);
}

function daemonsOf(text: string | undefined): readonly DaemonName[] {
  if (text === undefined) return daemonNames;
  return text.split(',').map((given) => {
    const name = daemonNames.find((each) => each === given);
    if (name === undefined) throw new RangeError(`${given}: expected one of ${daemonNames.join(', ')}`);
    return name;
  });
}

async function one(name: BenchName, given: Arguments, progress: (line: string) => void): Promise<number> {
  setPriority(niceness);
  const { report, text } = await benches[name](given, { niceness, progress });
  if (given.folder !== undefined) record(given.folder, report);
  console.log(given.isJson ? JSON.stringify(report) : text);
  return report.failures.some(({ moreThan }) => moreThan === undefined) ? exitWithFailures : 0;
}

async function all(
  folder: string,
  rounds: number | undefined,
  progress: (line: string) => void,
): Promise<number> {
  const faults = await runAll(
    stepsOfAll(folder, rounds),
    (step) =>
      runStep(step, () => {
        const recorded = readRecorded(folder);
        const name = benchNames.find((each) => each === step.name);
        return (name && recorded[name]?.failures) ?? [];
      }),
    progress,
  );
  console.log(figureTable(figures(readRecorded(folder))));
  for (const fault of faults) console.error(`failed: ${fault}`);
  return faults.length === 0 ? 0 : 1;
}

async function main(): Promise<number> {
  const given = readArguments(process.argv.slice(2));
  if (given === undefined) {
    console.error(usage);
    return 2;
  }
  const since = performance.now();
  const progress = (line: string): void =>
    console.error(`${((performance.now() - since) / 1000).toFixed(0).padStart(5)} s  ${line}`);
  const { name, folder, rounds } = given;
  if (name !== 'all') {
    // What clients get is the other half of that job.
    const names: readonly BenchName[] = name === 'lb' && !given.isAlone ? ['lb', 'traffic'] : [name];
    let status = 0;
    for (const each of names) status = Math.max(status, await one(each, given, progress));
    return status;
  }
  return folder === undefined ? 2 : all(folder, rounds, progress);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // The lab's guardian removes the lab as soon as the process that made it has ended.
  process.once(signal, () => {
    endStep();
    process.exit(signal === 'SIGINT' ? 130 : 143);
  });
}
process.exit(await main());
