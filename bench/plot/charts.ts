import { type DaemonName, daemonNames } from '../bgp/daemon.ts';
import type { DeathKind, DeathReport } from '../death/measure-death.ts';
import type { IngestReport } from '../ingest/measure-ingest.ts';
import type { LatencyKind } from '../lb/latency.ts';
import type { LbReport } from '../lb/measure-lb.ts';
import type { Report } from '../record/recorded-report.ts';
import type { RestReport } from '../rest/measure-rest.ts';
import type { SessionsReport } from '../sessions/measure-sessions.ts';
import type { TrafficReport } from '../traffic/measure-traffic.ts';
import type { BarChart } from './bar-chart.ts';

type Charts = Readonly<Record<string, BarChart>>;

/** The charts of a report by the names of their files, without extension. */
export function chartsOf(report: Report): Charts {
  switch (report.bench) {
    case 'lb':
      return lbCharts(report);
    case 'death':
      return deathCharts(report);
    case 'traffic':
      return trafficCharts(report);
    case 'speaker':
      return {
        'speaker-events': {
          axis: "ms from the event to the load balancer's kernel",
          rows: report.results.map(({ event, took }) => ({ label: event, values: took?.samples ?? [] })),
        },
      };
    case 'rest':
      return restCharts(report);
    case 'evidence':
      return {
        'evidence-segments': {
          axis: 'µs for each segment that is forwarded, one core',
          rows: report.results.map(({ kind, isCounted, took }) => ({
            label: `${kind.toUpperCase()}, ${isCounted ? 'counted' : 'not counted'}`,
            values: took.samples,
          })),
        },
      };
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

function trafficCharts({ results }: TrafficReport): Charts {
  return {
    'traffic-death': {
      axis: 'ms from the silent death of a master until all new clients were served',
      rows: results.flatMap(({ contender, served }) =>
        served === undefined ? [] : [{ label: contender, values: served.samples }],
      ),
    },
  };
}

const messages = { lesser: 'update', withdraw: 'withdrawal', cease: 'cease' } as const satisfies Partial<
  Record<LatencyKind, string>
>;

function lbCharts({ latency, survivors, starts }: LbReport): Charts {
  const charts: Record<string, BarChart> = {};
  for (const [kind, name] of Object.entries(messages)) {
    charts[`lb-${name}`] = {
      axis: `ms from ${name === 'update' ? 'an UPDATE with GRACEFUL_SHUTDOWN' : `a ${name}`} to the kernel`,
      rows: latency
        .filter((one) => one.kind === kind)
        .map(({ daemon, samples }) => ({ label: daemon, values: samples })),
    };
  }
  const daemons = daemonNames.filter((name) => survivors.some(({ daemon }) => daemon === name));
  charts['lb-survivors'] = {
    axis: 'of 300 connections broken at the masters that stay, for each victim',
    rows: daemons.map((label) => ({
      label,
      values: survivors
        .filter(({ daemon }) => daemon === label)
        .flatMap(({ victims }) => victims.map(({ brokenAtSurvivors }) => brokenAtSurvivors)),
    })),
  };
  charts['lb-starts'] = {
    axis: 'ms from the start to the control socket',
    rows: starts.map(({ daemon, samples }) => ({ label: daemon, values: samples })),
  };
  return charts;
}

const deaths: Readonly<Record<DeathKind, string>> = {
  'BFD 50 ms x 3': 'death-bfd-50',
  'BFD 300 ms x 3': 'death-bfd-300',
  'hold time 3 s, no BFD': 'death-hold-time',
  'link down': 'death-link-down',
};

function deathCharts({ results }: DeathReport): Charts {
  const kinds = new Set(results.map(({ kind }) => kind));
  return Object.fromEntries(
    [...kinds].map((kind) => [
      deaths[kind],
      {
        axis: `ms until the next hop is gone: ${kind}`,
        rows: results
          .filter((one) => one.kind === kind)
          .map(({ daemon, gone }) => ({ label: daemon, values: gone?.samples ?? [] })),
      },
    ]),
  );
}

function restCharts({ results }: RestReport): Charts {
  return {
    'rest-memory': {
      axis: 'RSS of a speaker at rest, MiB',
      rows: results.map(({ form, readings }) => ({
        label: form,
        values: readings.map(({ rssMiB }) => rssMiB),
      })),
    },
    'rest-processor': {
      axis: 'speaker at rest, % of a core',
      rows: results.map(({ form, readings }) => ({
        label: form,
        values: readings.map(({ cpuPercent }) => cpuPercent),
      })),
    },
  };
}

function ingestCharts({ runs }: IngestReport): Charts {
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

function sessionsCharts({ runs, sessions }: SessionsReport): Charts {
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

/** A row for each daemon that has runs. */
function chart<Run extends { readonly daemon: DaemonName }>(
  axis: string,
  runs: readonly Run[],
  figure: (run: Run) => number,
): BarChart {
  const rows = daemonNames
    .filter((name) => runs.some(({ daemon }) => daemon === name))
    .map((label) => ({ label, values: runs.filter(({ daemon }) => daemon === label).map(figure) }));
  return { axis, rows };
}
