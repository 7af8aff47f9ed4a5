/** Reports on disk: one JSON file per benchmark, with every sample. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeathReport } from '../death/measure-death.ts';
import type { EvidenceReport } from '../evidence/measure-evidence.ts';
import type { IngestReport } from '../ingest/measure-ingest.ts';
import type { LbReport } from '../lb/measure-lb.ts';
import type { ReflectReport } from '../reflect/measure-reflect.ts';
import type { RestReport } from '../rest/measure-rest.ts';
import type { SessionsReport } from '../sessions/measure-sessions.ts';
import type { SpeakerReport } from '../speaker/measure-speaker.ts';
import type { TrafficReport } from '../traffic/measure-traffic.ts';

/** What a benchmark found. */
export type Report =
  | LbReport
  | TrafficReport
  | DeathReport
  | SpeakerReport
  | RestReport
  | EvidenceReport
  | IngestReport
  | ReflectReport
  | SessionsReport;
export type BenchName = Report['bench'];

/** Those of the benchmarks that have been recorded. */
export type Recorded = { readonly [Name in BenchName]?: Extract<Report, { readonly bench: Name }> };

/** The shortest first: a fault of the set-up shows early. */
export const benchNames = [
  'evidence',
  'rest',
  'speaker',
  'reflect',
  'death',
  'traffic',
  'ingest',
  'sessions',
  'lb',
] as const;

/** Writes a report as `FOLDER/NAME.json` in place of the one before. */
export function record(folder: string, report: Report): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${report.bench}.json`), reportText(report));
}

/** JSON that is read by people too: indented, but lists of numbers and of short texts on one line. */
export function reportText(report: Report): string {
  const indented = JSON.stringify(report, null, 1);
  return `${indented.replaceAll(/\[\s+([^[\]{}]*?)\s+\]/g, (_, list: string) => `[${list.replaceAll(/\s+/g, ' ')}]`)}\n`;
}

/** @throws Error when a file is there that is no report of the benchmark that it is named after. */
export function readRecorded(folder: string): Recorded {
  const recorded: Partial<Record<BenchName, Report>> = {};
  for (const name of benchNames) {
    const file = join(folder, `${name}.json`);
    const text = textOf(file);
    if (text === undefined) continue;
    const report = JSON.parse(text) as Report;
    if (report.bench !== name)
      throw new Error(`${file}: expected a report of ${name}, not of ${String(report.bench)}`);
    recorded[name] = report;
  }
  return recorded as Recorded;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
