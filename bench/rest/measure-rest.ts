/** What a speaker needs that has nothing to do: memory, processor time, start; as the bundle and as the single file. */
import { existsSync, readFileSync } from 'node:fs';
import { Attempts, type Failure } from '../attempts.ts';
import { usageAtRest } from '../lb/process-usage.ts';
import { describeMachine, type Machine } from '../machine.ts';
import { round, type Sampled, sampled } from '../statistics.ts';
import { RestLab, type SpeakerCommand } from './rest-lab.ts';

/** How a speaker is shipped. */
type SpeakerForm = 'bundle' | 'single file';

/** What one reading of a speaker at rest found, in MiB and percent of a core. */
export interface RestReading {
  readonly rssMiB: number;
  /** The part of it that is the process's own: the rest are pages of files, shared with others that have them open. */
  readonly anonymousMiB: number;
  /** With what is shared divided among those that share it. */
  readonly pssMiB: number;
  readonly cpuPercent: number;
}

/** One form of the speaker. */
interface RestResult {
  readonly form: SpeakerForm;
  /** Milliseconds from the start to its line in the log. */
  readonly starts: Sampled | undefined;
  readonly readings: readonly RestReading[];
}

export interface RestReport {
  readonly bench: 'rest';
  readonly machine: Machine;
  readonly rounds: number;
  /** How long a reading takes. */
  readonly seconds: number;
  readonly results: readonly RestResult[];
  readonly failures: readonly Failure[];
  readonly tookMs: number;
}

const startsPerRound = 3;
/** Before a reading, in seconds: what the start left is given back 15 s after it. */
const calm = 20;
const dist = new URL('../../dist/', import.meta.url).pathname;
/** What `npm run single-file` makes. */
const defaultSingleFile = `${dist}bgp-lb-speaker`;

/** Runs everything. The single file is left out where there is none. */
export async function measureRest(options: {
  readonly rounds: number;
  readonly singleFile?: string | undefined;
  readonly seconds?: number | undefined;
  readonly niceness: number;
  readonly progress: (line: string) => void;
}): Promise<RestReport> {
  const { rounds, singleFile = defaultSingleFile, seconds = 30, niceness, progress } = options;
  const since = performance.now();
  const machine = await describeMachine(niceness);
  const commands = new Map<SpeakerForm, SpeakerCommand>([
    ['bundle', [process.execPath, `${dist}bgp-lb-speaker.mjs`]],
    ...(existsSync(singleFile) ? [['single file', [singleFile]] as const] : []),
  ]);
  if (commands.size === 1) progress(`no single file: ${singleFile} is not there (npm run single-file)`);
  const attempts = new Attempts(progress);
  const starts = new Map<SpeakerForm, number[]>();
  const readings = new Map<SpeakerForm, RestReading[]>();
  for (let n = 0; n < rounds; n += 1) {
    for (const [form, command] of commands) {
      progress(`speaker at rest, round ${n + 1} of ${rounds}: ${form}`);
      const found = await attempts.attempt('bgp-lb', form, () => measureOnce(command, seconds));
      if (found === undefined) continue;
      starts.set(form, [...(starts.get(form) ?? []), ...found.starts]);
      readings.set(form, [...(readings.get(form) ?? []), found.reading]);
    }
  }
  return {
    ...{ bench: 'rest', machine, rounds, seconds },
    results: [...readings].map(([form, all]) => ({
      form,
      starts: sampled(starts.get(form) ?? [], 1),
      readings: all,
    })),
    failures: attempts.failures,
    tookMs: Math.round(performance.now() - since),
  };
}

/** A lab of its own: nothing of the form before is left in it. The last of some starts is the one that rests. */
async function measureOnce(
  command: SpeakerCommand,
  seconds: number,
): Promise<{ readonly starts: readonly number[]; readonly reading: RestReading }> {
  const lab = await RestLab.create();
  try {
    const starts: number[] = [];
    let running = await lab.startSpeaker(command);
    for (let n = 1; n < startsPerRound; n += 1) {
      starts.push(running.startedMs);
      await lab.waitForRest();
      await lab.stopSpeaker(running.child);
      running = await lab.startSpeaker(command);
    }
    starts.push(running.startedMs);
    await lab.waitForRest();
    const pid = running.child.pid ?? 0;
    await usageAtRest({ speaker: pid }, calm);
    const [usage] = await usageAtRest({ speaker: pid }, seconds);
    return { starts, reading: { cpuPercent: usage?.cpuPercent ?? Number.NaN, ...memoryOf(pid) } };
  } finally {
    await lab.remove();
  }
}

/** From /proc/PID/smaps_rollup (proc_pid_smaps(5)). */
function memoryOf(pid: number): Omit<RestReading, 'cpuPercent'> {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const of = (name: string): number =>
    round(Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) / 1024, 1);
  return { rssMiB: of('Rss'), anonymousMiB: of('Anonymous'), pssMiB: of('Pss') };
}
