/**
 * `npm run soak -- bfd --minutes N`: false alarms of BFD, ours beside FRR and BIRD, on a machine with too much to do.
 *
 *   --minutes N   how long; default 10
 *   --interval N  ms between packets, in both directions, with the multiplier 3; default 50
 *   --sessions N  of each implementation; default 16
 *   --no-fifo     ours stays an ordinary thread, as where CAP_SYS_NICE is missing
 *   --all-fifo    FRR and BIRD get SCHED_FIFO too, where by default they have what Debian's units give them
 *   --json        print one JSON object in place of the text
 */
import { parseArgs } from 'node:util';
import { describeSoak } from './describe-soak.ts';
import { mostSessions } from './link.ts';
import { measureSoak, type SoakOptions } from './measure-soak.ts';

const usage =
  'usage: npm run soak -- bfd [--minutes N] [--interval MS] [--sessions N] [--no-fifo | --all-fifo] [--json]';

/** Undefined when they cannot be understood. */
function readArguments(
  argv: string[],
): (Omit<SoakOptions, 'progress'> & { readonly isJson: boolean }) | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      options: {
        minutes: { type: 'string', default: '10' },
        interval: { type: 'string', default: '50' },
        sessions: { type: 'string', default: '16' },
        'no-fifo': { type: 'boolean', default: false },
        'all-fifo': { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    });
    const [minutes, interval, sessions] = [values.minutes, values.interval, values.sessions].map(Number);
    const isOne = (value: number | undefined, most: number): value is number =>
      value !== undefined && value > 0 && value <= most;
    if (positionals.join(' ') !== 'bfd' || !isOne(minutes, 24 * 60)) return undefined;
    if (!isOne(interval, 1000) || !Number.isInteger(interval)) return undefined;
    if (!isOne(sessions, mostSessions) || !Number.isInteger(sessions)) return undefined;
    if (values['no-fifo'] && values['all-fifo']) return undefined;
    const scheduling = values['no-fifo'] ? 'ordinary' : values['all-fifo'] ? 'all-fifo' : 'as-shipped';
    return { minutes, interval, sessions, scheduling, isJson: values.json };
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
  const since = performance.now();
  const progress = (line: string): void =>
    console.error(`${((performance.now() - since) / 1000).toFixed(0).padStart(5)} s  ${line}`);
  const report = await measureSoak({ ...given, progress });
  console.log(given.isJson ? JSON.stringify(report) : describeSoak(report));
  return 0;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Namespaces, programs and folders go with the exit of this process.
  process.once(signal, () => process.exit(signal === 'SIGINT' ? 130 : 143));
}
process.exit(await main());
