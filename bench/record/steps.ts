import { fileURLToPath } from 'node:url';
import { type BenchName, benchNames } from './recorded-report.ts';
import type { Step } from './run-all.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** How often each is measured so that all of them together take some 55 minutes on two slow cores, and the bound of each. */
const plan: Readonly<Record<BenchName, { readonly rounds: number; readonly mostMinutes: number }>> = {
  evidence: { rounds: 7, mostMinutes: 10 },
  rest: { rounds: 2, mostMinutes: 15 },
  speaker: { rounds: 6, mostMinutes: 15 },
  reflect: { rounds: 3, mostMinutes: 15 },
  death: { rounds: 5, mostMinutes: 30 },
  traffic: { rounds: 3, mostMinutes: 30 },
  ingest: { rounds: 3, mostMinutes: 40 },
  sessions: { rounds: 2, mostMinutes: 40 },
  lb: { rounds: 2, mostMinutes: 60 },
};

/** Every benchmark, each recorded in the folder, after the single file that one of them measures. @param rounds in place of the plan's */
export function stepsOfAll(folder: string, rounds?: number): Step[] {
  const benchmarks = benchNames.map(
    (name): Step => ({
      name,
      argv: [
        path('../main.ts'),
        name,
        ...['--record', folder],
        ...['--rounds', String(rounds ?? plan[name].rounds)],
        ...(name === 'lb' ? ['--alone'] : []),
      ],
      mostMinutes: plan[name].mostMinutes,
    }),
  );
  return [
    { name: 'single file', argv: [path('../../scripts/single-file.ts')], mostMinutes: 10 },
    ...benchmarks,
  ];
}
