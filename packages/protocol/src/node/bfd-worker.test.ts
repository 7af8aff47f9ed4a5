import { EventEmitter, once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { BfdClient } from './bfd-client.ts';
import type { BfdStateChange } from './bfd-status.ts';
import { runBfdWorker } from './bfd-worker.ts';
import { BfdWire, fastTiming } from './kit/bfd-wire.ts';

const refusal = { wanted: 'fifo', code: 'EPERM', message: 'sched_setscheduler: EPERM' } as const;

describe('a BFD worker, by messages', () => {
  const channels: MessageChannel[] = [];

  afterEach(() => {
    for (const { port1 } of channels.splice(0)) port1.close();
  });

  /** A client and its worker on a wire whose time is real. */
  function start(wire: BfdWire, address: string) {
    const channel = new MessageChannel();
    channels.push(channel);
    const changes: BfdStateChange[] = [];
    const refused: string[] = [];
    const removed: string[] = [];
    const told = new EventEmitter();
    const scheduling = { policy: 'nice', value: -15, refusals: [refusal] } as const;
    const settled = { policy: 'fifo', value: 10, refusals: [] } as const;
    runBfdWorker(
      channel.port2,
      wire.sockets(address),
      (isSettled) => (isSettled ? settled : scheduling),
      200,
    );
    const client = new BfdClient(channel.port1, {
      ready: () => told.emit('told'),
      changed: (change) => {
        changes.push(change);
        told.emit('told');
      },
      removed: (id) => removed.push(id),
      refused: (id, message) => {
        refused.push(`${id}: ${message}`);
        told.emit('told');
      },
    });
    const until = async (condition: () => boolean): Promise<void> => {
      while (!condition()) await once(told, 'told');
    };
    return { client, changes, refused, removed, until };
  }

  it('brings sessions up, tells their status, and takes them down', async () => {
    const wire = new BfdWire();
    const left = start(wire, '10.0.0.1');
    const right = start(wire, '10.0.0.2');
    left.client.add({ id: 'right', remoteAddress: '10.0.0.2', ...fastTiming });
    right.client.add({ id: 'left', remoteAddress: '10.0.0.1', ...fastTiming });
    await left.until(() => left.changes.at(-1)?.to === 'Up');
    await right.until(() => right.changes.at(-1)?.to === 'Up');
    const status = await left.client.status();
    expect(status.sessions).toMatchObject([{ id: 'right', state: 'Up' }]);
    expect(status.at).toBeGreaterThanOrEqual(left.changes.at(-1)?.at ?? Infinity);
    left.client.setAdminDown('right', true);
    await right.until(() => right.changes.at(-1)?.to === 'Down');
    expect(right.changes.at(-1)).toMatchObject({ reason: 'peer-admin-down', isFailure: false });
    left.client.change('right', { ...fastTiming, detectMultiplier: 9 });
    right.client.remove('left');
    await Promise.all([left.client.stop(), right.client.stop()]);
    expect([left.removed, right.removed]).toEqual([['right'], ['left']]);
    expect(left.refused).toEqual([]);
  });

  it('says how it is scheduled, and what was refused', async () => {
    const one = start(new BfdWire(), '10.0.0.1');
    expect(one.client.scheduling).toBeUndefined();
    await one.until(() => one.client.scheduling !== undefined);
    expect(one.client.scheduling).toEqual({ policy: 'nice', value: -15, refusals: [refusal] });
    await one.until(() => one.client.scheduling?.policy === 'fifo');
  });

  it('says what it cannot do', async () => {
    const one = start(new BfdWire(), '10.0.0.1');
    one.client.add({ id: 'a', remoteAddress: 'nowhere', ...fastTiming });
    one.client.change('b', fastTiming);
    one.client.setAdminDown('c', true);
    await one.until(() => one.refused.length === 3);
    expect(one.refused).toEqual([
      'a: IP address "nowhere": expected an IPv4 or IPv6 address',
      'b: BFD session b: does not exist',
      'c: BFD session c: does not exist',
    ]);
  });

  it('that is lost leaves nobody waiting', async () => {
    const one = start(new BfdWire(), '10.0.0.1');
    const status = one.client.status();
    const stopped = one.client.stop();
    one.client.lost();
    await expect(status).rejects.toThrow('the BFD worker has ended');
    await expect(one.client.status()).rejects.toThrow('the BFD worker has ended');
    await stopped;
    await one.client.stop();
  });
});
