import { describe, expect, it } from 'vitest';
import { BfdHost, BfdWire } from './kit/bfd-wire.ts';

const us = '10.0.0.1';

interface Neighbor {
  readonly address: string;
  readonly interval: number;
  readonly detectMult?: number;
}

/** Times at which an engine of ours sent to each of its neighbors, which the test plays, within ten seconds of Up. */
async function tenSeconds(neighbors: readonly Neighbor[]): Promise<ReadonlyMap<string, readonly number[]>> {
  const wire = new BfdWire();
  const times = new Map<string, number[]>();
  // A generator that repeats itself from run to run, and is even enough for bounds.
  let seed = 1;
  const random = (): number => {
    seed = (seed * 48_271) % 0x7fff_ffff;
    return seed / 0x7fff_ffff;
  };
  const host = new BfdHost(wire, us, { random });
  for (const [index, { address, interval, detectMult = 3 }] of neighbors.entries()) {
    host.add(address, {
      transmitInterval: interval,
      receiveInterval: interval,
      detectMultiplier: detectMult,
    });
    wire.sockets(address).receive(
      { version: 4, port: 3784, onlyTtl255: true },
      () => times.get(address)?.push(wire.clock.now()),
      () => undefined,
    );
    const { localDiscriminator } = host.session(address);
    const hear = (state: 'Down' | 'Init' | 'Up', final = false): void =>
      host.hears(address, {
        state,
        final,
        myDiscriminator: index + 1,
        yourDiscriminator: localDiscriminator,
        desiredMinTx: interval * 1000,
        requiredMinRx: interval * 1000,
        // Silent from here on, and not to be missed.
        detectMult: 255,
      });
    hear('Down');
    hear('Init');
    hear('Up', true);
    // Each begins at a time of its own.
    await wire.clock.advance(7.3);
  }
  for (const { address } of neighbors) times.set(address, []);
  await wire.clock.advance(10_000);
  return times;
}

const gaps = (times: readonly number[]): readonly number[] =>
  times.slice(1).map((at, n) => at - (times[n] ?? 0));

describe('the timer of many BFD sessions', () => {
  it('lets sessions with one interval send together, each within its jitter', async () => {
    const neighbors = Array.from({ length: 16 }, (_, n) => ({ address: `10.0.1.${n + 1}`, interval: 50 }));
    const sent = await tenSeconds(neighbors);
    const moments = new Set([...sent.values()].flat());
    // As many as one session has, where there would be sixteen times as many. The first ones are before they meet.
    const [one = []] = sent.values();
    expect(moments.size).toBeLessThan(one.length + 32);
    for (const times of sent.values()) {
      // 10 s at an average of 43.75 ms are 228; sessions that only ran ahead of each other would have 260.
      expect(times.length).toBeGreaterThan(215);
      expect(times.length).toBeLessThan(245);
      for (const gap of gaps(times)) {
        expect(gap).toBeGreaterThanOrEqual(37.5 - 1e-6);
        expect(gap).toBeLessThanOrEqual(50 + 1e-6);
      }
    }
  });

  it('keeps the intervals random, so that hosts do not synchronise', async () => {
    const sent = await tenSeconds(
      Array.from({ length: 4 }, (_, n) => ({ address: `10.0.1.${n + 1}`, interval: 50 })),
    );
    for (const times of sent.values()) {
      const seen = gaps(times);
      for (const [from, to] of [
        [37.5, 40.7],
        [40.7, 43.8],
        [43.8, 46.9],
        [46.9, 50.1],
      ] as const) {
        expect(seen.filter((gap) => gap >= from && gap < to).length).toBeGreaterThan(seen.length / 8);
      }
    }
  });

  it('holds the limits of sessions with other intervals and of the multiplier 1', async () => {
    const sent = await tenSeconds([
      { address: '10.0.1.1', interval: 50 },
      { address: '10.0.1.2', interval: 300 },
      { address: '10.0.1.3', interval: 70, detectMult: 1 },
    ]);
    for (const [address, least, most] of [
      ['10.0.1.1', 37.5, 50],
      ['10.0.1.2', 225, 300],
      ['10.0.1.3', 52.5, 63],
    ] as const) {
      const seen = gaps(sent.get(address) ?? []);
      expect(seen.length).toBeGreaterThan(10_000 / most - 2);
      expect(Math.min(...seen)).toBeGreaterThanOrEqual(least - 1e-6);
      expect(Math.max(...seen)).toBeLessThanOrEqual(most + 1e-6);
    }
  });

  it('has no more than some sessions run ahead at a time', async () => {
    const neighbors = Array.from({ length: 80 }, (_, n) => ({ address: `10.0.1.${n + 1}`, interval: 50 }));
    const sent = await tenSeconds(neighbors);
    const perMoment = new Map<number, number>();
    for (const at of [...sent.values()].flat()) perMoment.set(at, (perMoment.get(at) ?? 0) + 1);
    const late = [...perMoment].filter(([at]) => at > 5000).map(([, count]) => count);
    expect(Math.max(...late)).toBeLessThan(64);
    expect(late.length).toBeLessThan(3 * 230);
  });
});
