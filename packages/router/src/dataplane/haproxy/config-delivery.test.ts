import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../testing/manual-clock.ts';
import { ConfigDelivery } from './config-delivery.ts';
import type { HaproxyTexts } from './haproxy-files.ts';
import { RunTimeError } from './run-time-client.ts';

describe('the delivery of the configuration', () => {
  let clock: ManualClock;
  let wanted: HaproxyTexts;
  let disk: HaproxyTexts | undefined;
  let refused: string | undefined;
  let checks: number;
  let reloads: number;
  let reload: () => Promise<void>;
  let faults: (string | undefined)[];
  let told: (string | undefined)[];
  let delivery: ConfigDelivery;

  beforeEach(() => {
    clock = new ManualClock();
    wanted = { config: 'one', state: 'cold one', ca: undefined };
    [disk, refused, checks, reloads, faults, told] = [undefined, undefined, 0, 0, [], []];
    reload = async () => undefined;
    delivery = new ConfigDelivery({
      clock,
      texts: () => wanted,
      onFault: (fault) => faults.push(fault),
      onReload: (_, error) => told.push(error),
      files: {
        get config() {
          return disk?.config;
        },
        write: async (texts) => {
          checks += 1;
          if (texts.config === refused) throw new Error('no such words');
          disk = texts;
        },
        writeState: (state) => {
          disk = { ...wanted, ...disk, state };
        },
      },
      haproxy: {
        reload: async (files, coldState) => {
          reloads += 1;
          files.writeState('warm');
          try {
            await reload();
          } finally {
            files.writeState(coldState() ?? '');
          }
        },
      },
    });
  });

  it('leaves the state to a reload until that is over, and the newest one behind', async () => {
    let end: () => void = () => undefined;
    let reloaded: Promise<void> | undefined;
    await new Promise<void>((began) => {
      reload = () => {
        began();
        return new Promise((resolve) => {
          end = resolve;
        });
      };
      reloaded = delivery.reload('a');
    });
    wanted = { ...wanted, state: 'cold two' };
    const written = delivery.write();
    // Whatever could run has run: a timer comes after all of it.
    await new Promise((resolve) => setTimeout(resolve));
    expect(disk?.state).toBe('warm');
    end();
    await reloaded;
    expect(disk?.state).toBe('cold two');
    await written;
    expect(disk?.state).toBe('cold two');
  });

  it('leaves what was wanted before a reload when that is wanted again', async () => {
    await delivery.write();
    reload = async () => {
      wanted = { ...wanted, state: 'cold two' };
    };
    await delivery.reload('a');
    wanted = { ...wanted, state: 'cold one' };
    await delivery.write();
    expect(disk?.state).toBe('cold one');
  });

  it('offers a configuration that was refused again after 30 s, and another at once', async () => {
    refused = 'one';
    await delivery.write();
    await delivery.write();
    await expect(delivery.reload('a')).rejects.toThrow('no such words');
    expect([checks, reloads, faults.at(-1)]).toEqual([1, 0, 'no such words']);
    clock.advance(30_000);
    await delivery.write();
    expect(checks).toBe(2);
    wanted = { ...wanted, config: 'two' };
    await delivery.write();
    expect([checks, disk?.config, faults.at(-1)]).toEqual([3, 'two', undefined]);
  });

  it('asks again after 30 s for a reload that failed, whatever members change, and for another at once', async () => {
    reload = () => Promise.reject(new RunTimeError('refused', 'not taken'));
    await expect(delivery.reload('a')).rejects.toThrow('not taken');
    wanted = { ...wanted, config: 'one with another member' };
    await expect(delivery.reload('a')).rejects.toThrow('not taken');
    expect(reloads).toBe(1);
    await expect(delivery.reload('b')).rejects.toThrow('not taken');
    expect(reloads).toBe(2);
    clock.advance(30_000);
    reload = async () => undefined;
    await expect(delivery.reload('b')).resolves.toBeUndefined();
    // What was not asked is not told.
    expect(told).toEqual(['not taken', 'not taken', undefined]);
  });

  it('asks again at once where there was no master to ask', async () => {
    reload = () => Promise.reject(new RunTimeError('absent', 'nothing listens there'));
    await expect(delivery.reload('a')).rejects.toThrow('nothing listens there');
    await expect(delivery.reload('a')).rejects.toThrow('nothing listens there');
    expect(reloads).toBe(2);
  });
});
