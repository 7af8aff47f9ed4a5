/** The benchmarks by name. */
import type { DaemonName } from './bgp/daemon.ts';
import { describeDeath } from './death/describe-death.ts';
import { measureDeath } from './death/measure-death.ts';
import { describeEvidence } from './evidence/describe-evidence.ts';
import { measureEvidence } from './evidence/measure-evidence.ts';
import { describeIngest } from './ingest/describe-ingest.ts';
import { measureIngest } from './ingest/measure-ingest.ts';
import { describeLb } from './lb/describe-lb.ts';
import { measureLb } from './lb/measure-lb.ts';
import type { BenchName, Report } from './record/recorded-report.ts';
import { describeReflect } from './reflect/describe-reflect.ts';
import { measureReflect } from './reflect/measure-reflect.ts';
import { describeRest } from './rest/describe-rest.ts';
import { measureRest } from './rest/measure-rest.ts';
import { describeSessions } from './sessions/describe-sessions.ts';
import { measureSessions } from './sessions/measure-sessions.ts';
import { describeSpeaker } from './speaker/describe-speaker.ts';
import { measureSpeaker } from './speaker/measure-speaker.ts';
import { describeTraffic } from './traffic/describe-traffic.ts';
import { measureTraffic } from './traffic/measure-traffic.ts';

/** How much is measured; what is undefined has the benchmark's default. */
export interface BenchOptions {
  readonly rounds: number | undefined;
  readonly bfd: number | undefined;
  readonly prefixes: number | undefined;
  readonly sessions: number | undefined;
  readonly seconds: number | undefined;
  readonly singleFile: string | undefined;
  readonly daemons: readonly DaemonName[];
}

/** Where it is run and who is told how far it is. */
interface BenchRun {
  readonly niceness: number;
  readonly progress: (line: string) => void;
}

/** The report, and the report as people read it. */
interface BenchOutcome {
  readonly report: Report;
  readonly text: string;
}

type Bench = (options: BenchOptions, run: BenchRun) => Promise<BenchOutcome>;

export const benches: Readonly<Record<BenchName, Bench>> = {
  async lb({ rounds = 3 }, run) {
    const report = await measureLb({ rounds, ...run });
    return { report, text: describeLb(report) };
  },
  async traffic({ rounds = 5 }, run) {
    const report = await measureTraffic({ rounds, ...run });
    return { report, text: describeTraffic(report) };
  },
  async death({ rounds: deaths = 10, bfd }, run) {
    const report = await measureDeath({ deaths, bfd, ...run });
    return { report, text: describeDeath(report) };
  },
  async speaker({ rounds = 10 }, run) {
    const report = await measureSpeaker({ rounds, ...run });
    return { report, text: describeSpeaker(report) };
  },
  async rest({ rounds = 3, singleFile, seconds }, run) {
    const report = await measureRest({ rounds, singleFile, seconds, ...run });
    return { report, text: describeRest(report) };
  },
  async evidence({ rounds = 7 }, run) {
    const report = await measureEvidence({ rounds, ...run });
    return { report, text: describeEvidence(report) };
  },
  async ingest({ rounds = 3, prefixes, daemons }, run) {
    const sizes = prefixes === undefined ? [100_000, 1_000_000] : [prefixes];
    const report = await measureIngest({ rounds, sizes, daemons, ...run });
    return { report, text: describeIngest(report) };
  },
  async reflect({ rounds = 3, prefixes = 100_000, daemons }, run) {
    const report = await measureReflect({ rounds, prefixes, daemons, ...run });
    return { report, text: describeReflect(report) };
  },
  async sessions({ rounds = 3, sessions = 1000, daemons }, run) {
    const report = await measureSessions({ rounds, sessions, daemons, ...run });
    return { report, text: describeSessions(report) };
  },
};
