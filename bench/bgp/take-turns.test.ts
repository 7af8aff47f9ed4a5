import { describe, expect, it } from 'vitest';
import { TooSlow } from '../attempts.ts';
import type { DaemonName } from './daemon.ts';
import { takeTurns } from './take-turns.ts';

const turns = (daemons: readonly DaemonName[], measure: (daemon: DaemonName) => Promise<string>) =>
  takeTurns({ rounds: 3, daemons, what: 'a task', progress: () => undefined, measure });

describe('taking turns', () => {
  it('begins each round with another daemon', async () => {
    const { runs, failures } = await turns(['bgp-lb', 'FRR', 'BIRD'], async (daemon) => daemon);
    expect(runs).toEqual(['bgp-lb', 'FRR', 'BIRD', 'FRR', 'BIRD', 'bgp-lb', 'BIRD', 'bgp-lb', 'FRR']);
    expect(failures).toEqual([]);
  });

  it('gives one round to who is too slow, and says how long it had', async () => {
    const asked: DaemonName[] = [];
    const { runs, failures } = await turns(['bgp-lb', 'GoBGP'], async (daemon) => {
      asked.push(daemon);
      if (daemon === 'GoBGP') throw new TooSlow(180);
      return daemon;
    });
    expect(asked.filter((daemon) => daemon === 'GoBGP')).toHaveLength(1);
    expect(runs).toHaveLength(3);
    expect(failures).toEqual([
      { daemon: 'GoBGP', what: 'a task', reason: 'not done within 180 s', moreThan: 180 },
    ]);
  });

  it('asks a daemon again that failed otherwise, and goes on with the others', async () => {
    let isFirst = true;
    const { runs, failures } = await turns(['bgp-lb', 'FRR'], async (daemon) => {
      if (daemon === 'FRR' && isFirst) {
        isFirst = false;
        throw new Error('has ended');
      }
      return daemon;
    });
    expect(runs.filter((daemon) => daemon === 'FRR')).toHaveLength(2);
    expect(runs.filter((daemon) => daemon === 'bgp-lb')).toHaveLength(3);
    expect(failures).toEqual([{ daemon: 'FRR', what: 'a task', reason: 'has ended' }]);
  });
});
