import { Attempts, type Failure } from '../attempts.ts';
import type { DaemonName } from './daemon.ts';

export interface Turns<Run> {
  readonly runs: readonly Run[];
  readonly failures: readonly Failure[];
}

/**
 * Measures daemons one after another, in each round beginning with another one. Who was too slow once has no further round: it
 * would take as long again and tell nothing new.
 */
export async function takeTurns<Run>(options: {
  readonly rounds: number;
  /** Those that are installed. */
  readonly daemons: readonly DaemonName[];
  readonly what: string;
  readonly progress: (line: string) => void;
  readonly measure: (daemon: DaemonName) => Promise<Run>;
}): Promise<Turns<Run>> {
  const { rounds, daemons, what, progress, measure } = options;
  const runs: Run[] = [];
  const attempts = new Attempts(progress);
  for (let n = 0; n < rounds; n += 1) {
    const first = n % daemons.length;
    for (const daemon of [...daemons.slice(first), ...daemons.slice(0, first)]) {
      if (attempts.wasTooSlow(daemon, what)) continue;
      progress(`${what}, round ${n + 1} of ${rounds}: ${daemon}`);
      const run = await attempts.attempt(daemon, what, () => measure(daemon));
      if (run !== undefined) runs.push(run);
    }
  }
  return { runs, failures: attempts.failures };
}
