import { type DaemonName, hasDaemon } from './daemon.ts';

/** A daemon that could not do what was asked of it. */
export interface Failure {
  readonly daemon: DaemonName;
  /** Words for people: the size of the table, the hold time. */
  readonly what: string;
  readonly reason: string;
}

export interface Turns<Run> {
  readonly runs: readonly Run[];
  readonly failures: readonly Failure[];
}

/** Measures those of the daemons that are installed, one after another, in each round beginning with another one. */
export async function takeTurns<Run>(options: {
  readonly rounds: number;
  readonly daemons: readonly DaemonName[];
  readonly what: string;
  readonly progress: (line: string) => void;
  readonly measure: (daemon: DaemonName) => Promise<Run>;
}): Promise<Turns<Run>> {
  const { rounds, what, progress, measure } = options;
  const daemons = options.daemons.filter((name) => name === 'bgp-lb' || hasDaemon(name));
  const runs: Run[] = [];
  const failures: Failure[] = [];
  for (let n = 0; n < rounds; n += 1) {
    const first = n % daemons.length;
    for (const daemon of [...daemons.slice(first), ...daemons.slice(0, first)]) {
      progress(`${what}, round ${n + 1} of ${rounds}: ${daemon}`);
      try {
        runs.push(await measure(daemon));
      } catch (error) {
        failures.push({ daemon, what, reason: error instanceof Error ? error.message : String(error) });
      }
    }
  }
  return { runs, failures };
}
