/**
 * What a speaker needs that has nothing to do: memory, processor time, start. As root: `npm run rest`.
 *
 *   --single-file FILE  measures that executable in place of dist/bgp-lb-speaker.mjs
 *   --starts N          how often it is started; default 5
 *   --seconds N         how long it rests; default 30
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { usageAtRest } from '../lb/process-usage.ts';
import { round, summarize } from '../statistics.ts';
import { RestLab, type SpeakerCommand } from './rest-lab.ts';

const { values } = parseArgs({
  options: {
    'single-file': { type: 'string' },
    starts: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '30' },
  },
});

const bundle = new URL('../../dist/bgp-lb-speaker.mjs', import.meta.url).pathname;
const single = values['single-file'];
const command: SpeakerCommand = single === undefined ? [process.execPath, bundle] : [single];

/** MiB by a line of /proc/PID/smaps_rollup. */
function rollup(pid: number): Record<string, number> {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const names = ['Rss', 'Pss', 'Anonymous', 'Private_Clean', 'Shared_Clean', 'Private_Dirty'];
  return Object.fromEntries(
    names.map((name) => [
      name,
      round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]) / 1024, 1),
    ]),
  );
}

const lab = await RestLab.create();
try {
  const starts: number[] = [];
  let running = await lab.startSpeaker(command);
  for (let n = 1; n < Number(values.starts); n += 1) {
    starts.push(running.startedMs);
    await lab.waitForRest();
    await lab.stopSpeaker(running.child);
    running = await lab.startSpeaker(command);
  }
  starts.push(running.startedMs);
  await lab.waitForRest();
  const pid = running.child.pid ?? 0;
  // What the start left is given back 15 s after it.
  await usageAtRest({ speaker: pid }, 20);
  const [usage] = await usageAtRest({ speaker: pid }, Number(values.seconds));
  console.log(JSON.stringify({ usage, memoryMiB: rollup(pid), startMs: summarize(starts, 0) }, null, 2));
  if (process.env['KEEP_SMAPS'] !== undefined) console.log(readFileSync(`/proc/${pid}/smaps`, 'utf8'));
} finally {
  await lab.remove();
}
