/** The generated parts of docs/benchmarks*.md by name, and the files of their plots. */
import { deathTable, killedTable } from '../death/describe-death.ts';
import { evidenceTable } from '../evidence/describe-evidence.ts';
import { figures, figureTable } from '../figures.ts';
import { ingestTable } from '../ingest/describe-ingest.ts';
import {
  kernelTable,
  latencyTable,
  restTable as lbRestTable,
  manyTable,
  restartTable,
  startTable,
  survivorTable,
} from '../lb/describe-lb.ts';
import { hardwareLine, versionsLine } from '../machine.ts';
import { barChart } from '../plot/bar-chart.ts';
import { chartsOf } from '../plot/charts.ts';
import { type BenchName, benchNames, type Recorded, type Report } from '../record/recorded-report.ts';
import { reflectTable } from '../reflect/describe-reflect.ts';
import { restTable } from '../rest/describe-rest.ts';
import { sessionsTable } from '../sessions/describe-sessions.ts';
import { speakerTable } from '../speaker/describe-speaker.ts';
import { table } from '../table.ts';
import { answerTable, connectionTable, silenceTable } from '../traffic/describe-traffic.ts';

/** What is made of the recorded reports. */
export interface Generated {
  /** Markdown by the name of the section. */
  readonly sections: Readonly<Record<string, string>>;
  /** SVG by the name of the file. */
  readonly plots: Readonly<Record<string, string>>;
}

/** @param folder of the plots, as a link from the page */
export function generate(recorded: Recorded, folder: string): Generated {
  const reports = benchNames.flatMap((name) => recorded[name] ?? []);
  const charts = Object.fromEntries(reports.map((report) => [report.bench, chartsOf(report)]));
  const plotsOf = (name: BenchName): string[] =>
    Object.keys(charts[name] ?? {}).map((file) => `![${file.replaceAll('-', ' ')}](${folder}/${file}.svg)`);
  const of = <Name extends BenchName>(
    name: Name,
    show: (report: Extract<Report, { readonly bench: Name }>) => string,
  ): string => {
    const report = recorded[name] as Extract<Report, { readonly bench: Name }> | undefined;
    return report === undefined ? 'Not recorded.' : show(report);
  };
  return {
    sections: {
      machine: reports.length === 0 ? 'Nothing is recorded.' : machineSection(reports),
      figures: figureTable(figures(recorded)),
      'lb-latency': of('lb', latencyTable),
      'lb-kernel': of('lb', kernelTable),
      'lb-many': of('lb', manyTable),
      'lb-survivors': of('lb', survivorTable),
      'lb-restarts': of('lb', restartTable),
      'lb-rest': of('lb', lbRestTable),
      'lb-starts': of('lb', startTable),
      'traffic-connections': of('traffic', connectionTable),
      'traffic-answers': of('traffic', answerTable),
      'traffic-silence': of('traffic', silenceTable),
      death: of('death', deathTable),
      'death-killed': of('death', killedTable),
      speaker: of('speaker', speakerTable),
      rest: of('rest', restTable),
      evidence: of('evidence', evidenceTable),
      ingest: of('ingest', ingestTable),
      reflect: of('reflect', reflectTable),
      sessions: of('sessions', sessionsTable),
      ...Object.fromEntries(benchNames.map((name) => [`plots-${name}`, plotsOf(name).join('\n\n')])),
    },
    plots: Object.fromEntries(
      Object.values(charts).flatMap((all) =>
        Object.entries(all).map(([file, chart]) => [`${file}.svg`, barChart(chart)]),
      ),
    ),
  };
}

/** One machine mostly; a benchmark that was recorded on another one is not passed over in silence. */
function machineSection(reports: readonly Report[]): string {
  const machines = new Map<string, BenchName[]>();
  for (const { bench, machine } of reports) {
    const text = `${hardwareLine(machine)}; ${versionsLine(machine)}; niceness ${machine.niceness}`;
    machines.set(text, [...(machines.get(text) ?? []), bench]);
  }
  const lines = [...machines].map(([text, names]) =>
    machines.size === 1 ? `${text}.` : `- ${names.join(', ')}: ${text}.`,
  );
  const rows = reports.map(({ bench, machine, rounds, tookMs, failures }) => [
    bench,
    machine.commit,
    machine.date,
    machine.loadBefore.map((load) => load.toFixed(2)).join(' '),
    String(rounds),
    (tookMs / 60_000).toFixed(1),
    String(failures.filter(({ moreThan }) => moreThan === undefined).length),
  ]);
  const head = ['bench', 'commit', 'began', 'load before', 'rounds', 'minutes', 'failures'];
  return `${lines.join('\n')}\n\n${table(head, rows)}`;
}
