/**
 * Figures of bgp-lb beside FRR and BIRD, on this machine; `npm run bench -- NAME`, or without a name for this text.
 */
import { setPriority } from 'node:os';
import { parseArgs } from 'node:util';
import { type DaemonName, daemonNames } from './bgp/daemon.ts';
import { describeDeath } from './death/describe-death.ts';
import { measureDeath } from './death/measure-death.ts';
import { describeIngest } from './ingest/describe-ingest.ts';
import { measureIngest } from './ingest/measure-ingest.ts';
import { describe } from './lb/describe.ts';
import { figures } from './lb/figures.ts';
import { measureLb } from './lb/measure-lb.ts';
import { describeReflect } from './reflect/describe-reflect.ts';
import { measureReflect } from './reflect/measure-reflect.ts';
import { describeSessions } from './sessions/describe-sessions.ts';
import { measureSessions, mostSessions } from './sessions/measure-sessions.ts';
import { describeSpeaker } from './speaker/describe-speaker.ts';
import { measureSpeaker } from './speaker/measure-speaker.ts';

/** Other work on the machine shows less in the figures; what is started here has it too, all daemons alike. */
const niceness = -10;
const usage = `usage: npm run bench -- NAME [--json] [--rounds N] [--deaths N] [--bfd MS] [--prefixes N] [--sessions N]
                                    [--daemons NAME,NAME]

  lb        the load balancer's job, beside FRR and BIRD
  death     how soon a dead master is out of the kernel; --deaths of each kind with each daemon (10);
            --bfd 50 or 300: only those that BFD at this interval notices
  speaker   how soon what happens to a master is in the load balancer's kernel; --rounds: how often (10)
  ingest    how fast a table is taken in, beside FRR, BIRD, GoBGP and OpenBGPD; --prefixes (100000, then 1000000)
  reflect   how fast a table is reflected to nine clients, beside the same; --prefixes (100000)
  sessions  how soon sessions of dynamic neighbours are there and what they cost, beside the same; --sessions (1000)

  --json    one JSON object in place of the tables
  --daemons of ingest, reflect and sessions: these only (bgp-lb,FRR,BIRD,GoBGP,OpenBGPD)
  --rounds  how often each daemon is measured (3)`;

/** What the command line says; a number that is not given is undefined. */
interface Arguments {
  readonly bench: string;
  readonly isJson: boolean;
  readonly rounds: number | undefined;
  readonly deaths: number | undefined;
  readonly bfd: number | undefined;
  readonly prefixes: number | undefined;
  readonly sessions: number | undefined;
  readonly daemons: readonly DaemonName[];
}

/** A benchmark: its report, and the report as people read it. */
type Bench = (
  given: Arguments,
  progress: (line: string) => void,
) => Promise<{ readonly report: object; readonly text: string }>;

const benches: Readonly<Record<string, Bench>> = {
  async lb({ rounds = 3 }, progress) {
    const report = await measureLb({ rounds, niceness, progress });
    return { report: { ...report, figures: figures(report) }, text: describe(report) };
  },
  async death({ deaths = 10, bfd }, progress) {
    const report = await measureDeath({ deaths, bfd, niceness, progress });
    return { report, text: describeDeath(report) };
  },
  async speaker({ rounds = 10 }, progress) {
    const report = await measureSpeaker({ rounds, niceness, progress });
    return { report, text: describeSpeaker(report) };
  },
  async ingest({ rounds = 3, prefixes, daemons }, progress) {
    const sizes = prefixes === undefined ? [100_000, 1_000_000] : [prefixes];
    const report = await measureIngest({ rounds, sizes, daemons, niceness, progress });
    return { report, text: describeIngest(report) };
  },
  async reflect({ rounds = 3, prefixes = 100_000, daemons }, progress) {
    const report = await measureReflect({ rounds, prefixes, daemons, niceness, progress });
    return { report, text: describeReflect(report) };
  },
  async sessions({ rounds = 3, sessions = 1000, daemons }, progress) {
    const report = await measureSessions({ rounds, sessions, daemons, niceness, progress });
    return { report, text: describeSessions(report) };
  },
};

/** Undefined when they cannot be understood. */
function readArguments(argv: string[]): Arguments | undefined {
  try {
    const number = { type: 'string' } as const;
    const { values, positionals } = parseArgs({
      args: argv,
      options: {
        ...{ json: { type: 'boolean' }, rounds: number, deaths: number, bfd: number },
        ...{ prefixes: number, sessions: number, daemons: number },
      },
      allowPositionals: true,
    });
    const count = (text: string | undefined): number | undefined => {
      if (text === undefined) return undefined;
      if (!/^[1-9][0-9]*$/.test(text)) throw new RangeError(`${text}: expected a number from 1`);
      return Number(text);
    };
    const sessions = count(values.sessions);
    if ((sessions ?? 0) > mostSessions) throw new RangeError(`at most ${mostSessions} sessions`);
    return {
      bench: positionals.join(' '),
      isJson: values.json === true,
      rounds: count(values.rounds),
      deaths: count(values.deaths),
      bfd: count(values.bfd),
      prefixes: count(values.prefixes),
      sessions,
      daemons: daemonsOf(values.daemons),
    };
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

function daemonsOf(text: string | undefined): readonly DaemonName[] {
  if (text === undefined) return daemonNames;
  return text.split(',').map((given) => {
    const name = daemonNames.find((each) => each === given);
    if (name === undefined) throw new RangeError(`${given}: expected one of ${daemonNames.join(', ')}`);
    return name;
  });
}

async function main(): Promise<number> {
  const given = readArguments(process.argv.slice(2));
  const bench = given === undefined ? undefined : benches[given.bench];
  if (given === undefined || bench === undefined) {
    console.error(usage);
    return 2;
  }
  setPriority(niceness);
  const since = performance.now();
  const { report, text } = await bench(given, (line) =>
    console.error(`${((performance.now() - since) / 1000).toFixed(0).padStart(5)} s  ${line}`),
  );
  console.log(given.isJson ? JSON.stringify(report) : text);
  return 0;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // The lab's guardian removes the lab as soon as this process has ended.
  process.once(signal, () => process.exit(signal === 'SIGINT' ? 130 : 143));
}
process.exit(await main());
