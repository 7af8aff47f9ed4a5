/**
 * Every order in which the machines of a cluster can boot. Delays, power cuts and crashes in between come from a seed:
 * BOOT_ORDER_SEED=N repeats what N gave, or tries another; BOOT_ORDER=1 to 24 runs one of the orders alone.
 */
import { availableParallelism } from 'node:os';
import { beforeAll, describe, expect, it } from 'vitest';
import { type BootOrder, bootOrders, describeOrder } from '../kit/boot-order.ts';
import { BootLab, type BootResult } from '../kit/boot-run.ts';

const seed = Number(process.env['BOOT_ORDER_SEED'] ?? '1');
const chosen = process.env['BOOT_ORDER'];
const numbered = bootOrders(seed)
  .map((order, index) => ({ number: index + 1, order }))
  .filter(({ number }) => chosen === undefined || number === Number(chosen));
/** A boot mostly waits, so that each core can have two labs; more than four take each other's time. */
const labs = Math.min(4, availableParallelism(), numbered.length);

/** Runs all orders, as many at once as there are labs. */
async function runAll(): Promise<ReadonlyMap<BootOrder, BootResult>> {
  const results = new Map<BootOrder, BootResult>();
  const waiting = numbered.map(({ order }) => order);
  const work = async (): Promise<void> => {
    let lab = await BootLab.create();
    try {
      for (let order = waiting.shift(); order !== undefined; order = waiting.shift()) {
        const result = await lab.run(order);
        results.set(order, result);
        if (result.failure === '') continue;
        // What a failure left behind is no other order's.
        await lab.destroy();
        lab = await BootLab.create();
      }
    } finally {
      await lab.destroy();
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: labs }, work));
  const broken = workers.find((worker) => worker.status === 'rejected');
  if (broken !== undefined) throw broken.reason;
  return results;
}

function matrix(results: ReadonlyMap<BootOrder, BootResult>): string {
  const rows = numbered.map(({ order, number }) => {
    const result = results.get(order);
    const outcome = result === undefined ? 'not run' : result.failure === '' ? 'ok' : 'FAILED';
    const time = `${((result?.tookMs ?? 0) / 1000).toFixed(1)} s`;
    return `${String(number).padStart(2)} ${outcome} ${time}, kubeadm runs ${result?.attempts.join('/')}: ${describeOrder(order)}`;
  });
  return [`boot orders, BOOT_ORDER_SEED=${seed}, ${labs} labs at once:`, ...rows].join('\n');
}

describe('every order of booting LB, first master and two joiners, with trouble in between', () => {
  let results: ReadonlyMap<BootOrder, BootResult>;

  beforeAll(async () => {
    const started = performance.now();
    results = await runAll();
    const took = ((performance.now() - started) / 1000).toFixed(0);
    process.stdout.write(`${matrix(results)}\nall: ${took} s\n`);
  }, 1_800_000);

  it.each(numbered.map(({ order }) => [order.machines.join(' '), order] as const))('%s', (_, order) => {
    expect(results.get(order)?.failure, describeOrder(order)).toBe('');
  });
});
