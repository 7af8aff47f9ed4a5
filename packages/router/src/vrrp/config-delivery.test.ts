import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { ConfigDelivery } from './config-delivery.ts';
import { KeepalivedFiles } from './keepalived-files.ts';
import { keepalivedPaths } from './keepalived-paths.ts';

describe('the configuration of keepalived', () => {
  let folder: string;
  let clock: ManualClock;
  let files: KeepalivedFiles;
  let reloads: number[];
  let refusal: string | undefined;
  let pid: number | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bgp-lb-delivery-'));
    clock = new ManualClock();
    // A program that takes each file without a word.
    files = new KeepalivedFiles(keepalivedPaths({ folder, runFolder: folder }), 'true');
    [reloads, refusal, pid] = [[], undefined, 4711];
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** A life of the router. */
  function life(): ConfigDelivery {
    return new ConfigDelivery({
      ...{ files, clock, pid: () => pid },
      reload: (one) => {
        reloads.push(one);
        if (refusal !== undefined) throw new Error(refusal);
      },
    });
  }

  /** Looks each 100 ms. */
  function pass(delivery: ConfigDelivery, ms: number): void {
    for (let done = 0; done < ms; done += 100) {
      delivery.look('wanted');
      clock.advance(100);
    }
  }

  /** The file is in place, and the reload not yet done. */
  async function write(delivery: ConfigDelivery): Promise<void> {
    delivery.look('wanted');
    await expect.poll(() => files.config).toBe('wanted');
    await new Promise(setImmediate);
  }

  it('is taken once, after it was written', async () => {
    const delivery = life();
    await write(delivery);
    pass(delivery, 10_000);
    expect(reloads).toEqual([4711]);
  });

  it('is taken by the next life of a router that ended before keepalived was told, and by none after that', async () => {
    await write(life());
    expect(reloads).toEqual([]);
    const next = life();
    pass(next, 2_900);
    // The one that ended may have reloaded a moment before.
    expect(reloads).toEqual([]);
    pass(next, 10_000);
    expect(reloads).toEqual([4711]);
    pass(life(), 10_000);
    expect(reloads).toEqual([4711]);
  });

  it('is offered again until keepalived can be told', async () => {
    const delivery = life();
    await write(delivery);
    refusal = 'EPERM';
    pass(delivery, 3_100);
    expect(reloads).toHaveLength(2);
    expect(delivery.fault).toBe('keepalived cannot be told of its configuration: EPERM');
    refusal = undefined;
    pass(delivery, 10_000);
    expect(reloads).toHaveLength(3);
    expect(delivery.fault).toBe('');
  });

  it('is read by a keepalived that starts later, which is not told', async () => {
    pid = undefined;
    const delivery = life();
    await write(delivery);
    pass(delivery, 100);
    pid = 4712;
    pass(delivery, 10_000);
    pass(life(), 10_000);
    expect(reloads).toEqual([]);
  });
});
