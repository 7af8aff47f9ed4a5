/** What a benchmark ran on. Figures without it say nothing. */
import { existsSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { tryCommand } from '../scripts/lab/run-command.ts';
import { round } from './statistics.ts';

/** The machine and the programs that were measured. */
export interface Machine {
  readonly kernel: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly node: string;
  /** The commit that was measured; `+` when files differ from it. */
  readonly commit: string;
  readonly frr: string | null;
  readonly bird: string | null;
  readonly gobgp: string | null;
  readonly openbgpd: string | null;
  /** Of the beginning of the run, ISO 8601 in UTC, to the second. */
  readonly date: string;
  /** Load averages of 1, 5 and 15 minutes before the run. */
  readonly loadBefore: readonly number[];
  /** Niceness of the harness and all that it starts. */
  readonly niceness: number;
}

/** The machine in one line. */
export function hardwareLine({ kernel, cpu, cores, memoryGiB }: Machine): string {
  return `${cores} x ${cpu}, ${memoryGiB} GiB, Linux ${kernel}`;
}

/** The programs that were measured, in one line. */
export function versionsLine({ node, frr, bird, gobgp, openbgpd }: Machine): string {
  const others = Object.entries({ FRR: frr, BIRD: bird, GoBGP: gobgp, OpenBGPD: openbgpd });
  return [
    `Node.js ${node}`,
    ...others.map(([name, version]) => `${name} ${version ?? 'not installed'}`),
  ].join(', ');
}

/** What a report ran on and how often, in two lines. */
export function machineText(report: {
  readonly machine: Machine;
  readonly rounds: number;
  readonly tookMs: number;
}): string {
  const { machine, rounds, tookMs } = report;
  const { commit: measured, date, loadBefore, niceness } = machine;
  return (
    `bgp-lb at commit ${measured}, ${date}; ${hardwareLine(machine)}; load ${loadBefore.join(' ')} before, niceness ${niceness}.\n` +
    `${versionsLine(machine)}; ${rounds} rounds in ${Math.round(tookMs / 1000)} s.`
  );
}

/** Looks at this machine. Call it before the run. */
export async function describeMachine(niceness: number): Promise<Machine> {
  const [first] = cpus();
  return {
    kernel: release(),
    cpu: first?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: round(totalmem() / 2 ** 30, 1),
    node: process.version,
    commit: await commit(),
    frr: await versionOf(['/usr/lib/frr/zebra', '--version'], /version (\S+)/),
    bird: await versionOf(['bird', '--version'], /version (\S+)/),
    gobgp: await versionOf(['gobgpd', '--version'], /version (\S+)/),
    openbgpd: await versionOf(['/usr/sbin/bgpd', '-V'], /OpenBGPD (\S+)/),
    date: `${new Date().toISOString().slice(0, 19)}Z`,
    loadBefore: loadavg().map((load) => round(load, 2)),
    niceness,
  };
}

async function commit(): Promise<string> {
  const cwd = new URL('..', import.meta.url).pathname;
  if (!existsSync(`${cwd}/.git`)) return 'unknown';
  const git = async (...argv: string[]): Promise<string> =>
    (await tryCommand(['git', ...argv], { cwd })).stdout.trim();
  const isChanged = (await git('status', '--porcelain', '--', 'packages')) !== '';
  return `${await git('rev-parse', '--short', 'HEAD')}${isChanged ? '+' : ''}`;
}

async function versionOf(argv: readonly string[], pattern: RegExp): Promise<string | null> {
  const { code, stdout, stderr } = await tryCommand(argv);
  return code === 0 ? (pattern.exec(stdout + stderr)?.[1] ?? 'unknown') : null;
}
