import type { Firewall } from '@bgp-lb/linux';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../testing/manual-clock.ts';
import { FirewallWatch } from './firewall-watch.ts';

const nothing: Firewall = { chains: [], unread: [] };

/** A watch whose looks end when the test says so. */
function heldWatch() {
  const clock = new ManualClock();
  const reads: { readonly at: number; readonly end: (firewall: Firewall) => void }[] = [];
  const watch = new FirewallWatch({
    clock,
    read: () => new Promise((resolve) => reads.push({ at: clock.now(), end: resolve })),
    looked: () => undefined,
  });
  const endAt = async (at: number): Promise<void> => {
    clock.advance(at - clock.now());
    reads.at(-1)?.end(nothing);
    // Waits for the look that runs, and begins none.
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, watch, reads, endAt };
}

function watchOf(read: () => Promise<Firewall>, looked: () => void = () => undefined): FirewallWatch {
  return new FirewallWatch({ clock: new ManualClock(), read, looked });
}

describe('looks at what others filter', () => {
  it('are five seconds apart from the end of one, however long it takes, and see what changed meanwhile', async () => {
    const { clock, watch, reads, endAt } = heldWatch();
    watch.schedule();
    clock.advance(8000);
    expect(reads.map(({ at }) => at)).toEqual([100]);
    watch.schedule();
    await endAt(9000);
    clock.advance(4999);
    expect(reads).toHaveLength(1);
    clock.advance(1);
    expect(reads.map(({ at }) => at)).toEqual([100, 14_000]);
    await endAt(14_500);
    watch.schedule();
    clock.advance(60_000);
    expect(reads.map(({ at }) => at)).toEqual([100, 14_000, 19_500]);
  });

  it('are made once where one is asked for now that was to be made later', async () => {
    const { clock, watch, reads, endAt } = heldWatch();
    watch.schedule();
    void watch.look();
    await endAt(50);
    clock.advance(60_000);
    expect(reads).toHaveLength(1);
  });

  it('are no more after the end, though something changed during the last', async () => {
    const { clock, watch, reads } = heldWatch();
    watch.schedule();
    clock.advance(100);
    watch.schedule();
    const closed = watch.close();
    reads[0]?.end(nothing);
    await closed;
    watch.schedule();
    clock.advance(60_000);
    expect(reads).toHaveLength(1);
  });

  it.each<[string, () => Promise<Firewall>, (() => void)?]>([
    ['reading', () => Promise.reject(new Error('EMFILE'))],
    [
      'judging',
      () => Promise.resolve(nothing),
      () => {
        throw new Error('EMFILE');
      },
    ],
  ])('that fail, at %s, say so and end nothing', async (_, read, looked) => {
    const watch = watchOf(read, looked);
    await watch.look();
    expect(watch.warnings).toEqual(['what filters packets of clients cannot be looked at: EMFILE']);
  });

  it('hold what was read last where it cannot be read again, until it can', async () => {
    const chain: Firewall['chains'][number] = {
      ...{ version: 4, table: 'ip filter', name: 'FORWARD', hook: 'forward', priority: 0 },
      ...{ policy: 'drop', rules: [] },
    };
    const answers = [Promise.resolve({ ...nothing, chains: [chain] }), Promise.reject(new Error('EMFILE'))];
    const watch = watchOf(() => answers.shift() ?? Promise.resolve(nothing));
    await watch.look();
    await watch.look();
    expect([watch.chains, watch.warnings.length]).toEqual([[chain], 1]);
    await watch.look();
    expect([watch.chains, watch.warnings]).toEqual([[], []]);
  });

  it('say which table could not be read, but for those that root alone may read', async () => {
    const problem = 'nft printed more than 16777216 octets';
    const unread = ['ip large', 'iptables-legacy filter', 'ip6tables-legacy'].map((table) => ({
      table,
      problem,
    }));
    const watch = watchOf(() => Promise.resolve({ chains: [], unread }));
    await watch.look();
    expect(watch.warnings).toEqual([
      `the rules of ip large cannot be read, and may drop packets of clients: ${problem}`,
    ]);
  });
});
