/** Reports with made-up figures, small enough to be looked through. */
import type { DaemonName } from '../bgp/daemon.ts';
import type { IngestReport, IngestRun } from '../ingest/measure-ingest.ts';
import type { Machine } from '../machine.ts';
import type { SessionsReport, SessionsRun } from '../sessions/measure-sessions.ts';

export const machine: Machine = {
  ...{ kernel: '6.1', cpu: 'a processor', cores: 2, memoryGiB: 4, node: 'v24.0.0', commit: 'abc1234' },
  ...{ frr: '8.4.4', bird: '2.0.12', gobgp: '3.10.0', openbgpd: null },
  ...{ date: '2026-01-02T03:04:05Z', loadBefore: [0.1, 0.2, 0.3], niceness: -10 },
};

function ingestRun(daemon: DaemonName, wall: number, longestGap = 1000): IngestRun {
  const feed = { updates: 1, attributeSets: 1, bytes: 1 };
  return { daemon, prefixes: 1_000_000, wall, cpu: wall, peakMiB: wall * 100, longestGap, feed } as IngestRun;
}

/** Ours 2 to 4 s, FRR 8 and 10, GoBGP too slow, OpenBGPD broken. */
export const ingestReport: IngestReport = {
  ...{ bench: 'ingest', machine, rounds: 3, keepaliveInterval: 1000, tookMs: 90_000 },
  runs: [
    ...[ingestRun('bgp-lb', 2), ingestRun('bgp-lb', 4, 1061), ingestRun('bgp-lb', 3)],
    ...[ingestRun('FRR', 8), ingestRun('FRR', 10)],
  ],
  failures: [
    { daemon: 'GoBGP', what: '1,000,000 prefixes', reason: 'not done within 180 s', moreThan: 180 },
    { daemon: 'OpenBGPD', what: '1,000,000 prefixes', reason: 'OpenBGPD has ended' },
  ],
};

export function sessionsReport(sessions: number): SessionsReport {
  const run: SessionsRun = {
    ...{ daemon: 'bgp-lb', holdTime: 90, half: 0.5, all: 1, cpu: 1 },
    ...{ peakMiB: 145, restMiB: 140, rest: 30, restPercent: 1 },
  };
  return { bench: 'sessions', machine, rounds: 1, sessions, runs: [run], failures: [], tookMs: 1 };
}
