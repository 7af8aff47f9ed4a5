import { BfdThread } from '@bgp-lb/protocol/node';
import { describe, expect, it } from 'vitest';
import { routerSchema } from '../config/schema.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { NeighborBfd } from './neighbor-bfd.ts';

/** BFD with one neighbor, or none, in a real thread that runs this program. */
function start(program: string, address?: string) {
  const clock = new ManualClock();
  let failed: () => void = () => undefined;
  const death = new Promise<void>((resolve) => {
    failed = resolve;
  });
  const neighbor = { name: 'm', role: 'master', address: address ?? '10.0.0.11', asn: 64512 };
  const { neighbors } = routerSchema.parse({
    asn: 64512,
    vips: [{ address: '10.100.0.1' }],
    neighbors: [neighbor],
  });
  const bfd = new NeighborBfd({
    neighbors: address === undefined ? [] : neighbors,
    passwordOf: () => undefined,
    agreedKey: () => undefined,
    start: (handlers) => new BfdThread({ entry: program, handlers, clock }),
    isEstablished: () => false,
    dead: () => undefined,
    required: () => undefined,
    changed: () => undefined,
    scheduled: () => undefined,
    problem: () => failed(),
    lateness: () => 0,
    missedWithin: () => undefined,
    afterReading: setImmediate,
    now: () => clock.now(),
  });
  bfd.start();
  const stop = async (): Promise<void> => {
    const stopped = bfd.stop();
    // The longest that it waits for a farewell.
    clock.advance(60_000);
    await stopped;
  };
  return { bfd, death, stop };
}

describe('whether the BFD thread is well', () => {
  it('is not asked where nobody has BFD', async () => {
    const { bfd, stop } = start('');
    await expect(bfd.checkAnswers()).resolves.toBeUndefined();
    await stop();
  });

  it('is no answer from one that hangs', async () => {
    const { bfd, stop } = start('for (;;);', '10.0.0.11');
    let hasAnswered = false;
    const answer = bfd.checkAnswers().finally(() => {
      hasAnswered = true;
    });
    answer.catch(() => undefined);
    // Other threads are heard meanwhile.
    const other = start('', undefined);
    await other.bfd.checkAnswers();
    await other.stop();
    expect(hasAnswered).toBe(false);
    await stop();
    await expect(answer).rejects.toThrow('the BFD worker has ended');
  });

  it('is no where it has died', async () => {
    const { bfd, death, stop } = start('throw new Error("no memory")', '10.0.0.11');
    await death;
    await expect(bfd.checkAnswers()).rejects.toThrow('no memory');
    await stop();
  });
});
