import type { DaemonName } from '../bgp/daemon.ts';
import type { IngestReport } from '../ingest/measure-ingest.ts';
import type { ReflectReport } from '../reflect/measure-reflect.ts';
import type { SessionsReport } from '../sessions/measure-sessions.ts';
import type { BarChart } from './bar-chart.ts';

/** The reports that there are charts of. */
export type PlottedReport = IngestReport | ReflectReport | SessionsReport;

/** The charts of a report by the names of their files, without extension. */
export function chartsOf(report: PlottedReport): Readonly<Record<string, BarChart>> {
  switch (report.bench) {
    case 'ingest':
      return ingestCharts(report);
    case 'reflect':
      return {
        'reflect-wall': chart(
          `seconds until ${report.receivers} clients had ${report.prefixes} prefixes`,
          report.runs,
          ({ wall }) => wall,
        ),
      };
    case 'sessions':
      return sessionsCharts(report);
  }
}

function ingestCharts({ runs }: IngestReport): Record<string, BarChart> {
  const charts: Record<string, BarChart> = {};
  for (const prefixes of new Set(runs.map((run) => run.prefixes))) {
    const own = runs.filter((run) => run.prefixes === prefixes);
    charts[`ingest-${prefixes}-wall`] = chart(`seconds for ${prefixes} prefixes`, own, ({ wall }) => wall);
    charts[`ingest-${prefixes}-memory`] = chart(
      `peak MiB with ${prefixes} prefixes`,
      own,
      ({ peakMiB }) => peakMiB,
    );
  }
  return charts;
}

function sessionsCharts({ runs, sessions }: SessionsReport): Record<string, BarChart> {
  const charts: Record<string, BarChart> = {};
  for (const holdTime of new Set(runs.map((run) => run.holdTime))) {
    const own = runs.filter((run) => run.holdTime === holdTime);
    const title = `${sessions} sessions, hold time ${holdTime} s`;
    charts[`sessions-${holdTime}-established`] = chart(
      `seconds until Established: ${title}`,
      own,
      ({ all }) => all,
    );
    charts[`sessions-${holdTime}-rest`] = chart(
      `% of a core at rest: ${title}`,
      own,
      (run) => run.restPercent,
    );
  }
  return charts;
}

/** A row for each daemon, in the order in which they come. */
function chart<Run extends { readonly daemon: DaemonName }>(
  axis: string,
  runs: readonly Run[],
  figure: (run: Run) => number,
): BarChart {
  const rows = [...new Set(runs.map(({ daemon }) => daemon))]
    .toSorted((a, b) => Number(b === 'bgp-lb') - Number(a === 'bgp-lb') || a.localeCompare(b))
    .map((label) => ({ label, values: runs.filter(({ daemon }) => daemon === label).map(figure) }));
  return { axis, rows };
}
