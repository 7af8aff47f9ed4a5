import { describe, expect, it } from 'vitest';
import { runAll, type Step, type StepEnd } from './run-all.ts';

const step = (name: string): Step => ({ name, argv: [], mostMinutes: 1 });
const well: StepEnd = { fault: undefined, failures: [] };

async function outcome(ends: Readonly<Record<string, StepEnd | Error>>) {
  const ran: string[] = [];
  const faults = await runAll(
    Object.keys(ends).map(step),
    async ({ name }) => {
      ran.push(name);
      const end = ends[name] ?? well;
      if (end instanceof Error) throw end;
      return end;
    },
    () => undefined,
  );
  return { ran, faults };
}

describe('all benchmarks', () => {
  it('has nothing to say when all is well', async () => {
    expect(await outcome({ rest: well, lb: well })).toEqual({ ran: ['rest', 'lb'], faults: [] });
  });

  it('goes on when a benchmark fails, and says which', async () => {
    const { ran, faults } = await outcome({
      rest: { fault: 'exit status 1', failures: [] },
      speaker: new Error('no such program'),
      lb: well,
    });
    expect(ran).toEqual(['rest', 'speaker', 'lb']);
    expect(faults).toEqual(['rest: exit status 1', 'speaker: Error: no such program']);
  });

  it('says which daemon failed in a benchmark that went on, but not who was too slow', async () => {
    const { faults } = await outcome({
      ingest: {
        fault: undefined,
        failures: [
          { daemon: 'FRR', what: '1,000,000 prefixes', reason: 'FRR has ended' },
          { daemon: 'GoBGP', what: '1,000,000 prefixes', reason: 'not done within 180 s', moreThan: 180 },
        ],
      },
    });
    expect(faults).toEqual(['ingest: FRR, 1,000,000 prefixes: FRR has ended']);
  });
});
