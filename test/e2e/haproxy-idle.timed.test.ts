import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Lab } from '../../scripts/lab/lab.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { runTime, startHaproxyCluster } from '../kit/haproxy-lab.ts';

const TIMEOUT = 120_000;

/** 40 minutes of the hour that a connection may be idle, 720 times as fast; keepalives as fast as HAProxy counts them. */
const scale = 720;
const idle = (40 * 60_000) / scale;

describe('connections through HAProxy that carry nothing', { timeout: TIMEOUT }, () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startHaproxyCluster({
      router: {
        pool: { flapHold: '0s', initialHold: '500ms' },
        dataplane: { idleTimeout: `${3_600_000 / scale}ms`, userTimeout: '1s' },
      },
    });
  }, TIMEOUT);
  afterAll(() => lab.destroy());

  const clients = async (): Promise<number> => {
    const lines = (await runTime(lab, 'show stat -1 1 -1')).split('\n');
    return Number(lines.find((line) => line.startsWith('vip-'))?.split(',')[4]);
  };

  it('go on for 40 minutes, scaled, and end when they were idle for longer than configured', async () => {
    // Nothing is exchanged but what `check` asks for.
    const { opened } = await lab.client.open(10, { exchangeEvery: 600_000 });
    expect(opened).toBe(10);
    await sleep(idle);
    expect(await lab.client.check()).toMatchObject({ alive: 10, broken: 0 });
    await sleep(2 * idle);
    expect(await lab.client.check()).toMatchObject({ alive: 0, broken: 10 });
    await lab.client.closeAll();
  });

  it('are reaped when their client has vanished without a word', async () => {
    await lab.client.open(10, { exchangeEvery: 600_000 });
    expect(await clients()).toBe(10);
    await lab.client.disconnect();
    await waitUntil(async () => (await clients()) === 0, { what: 'none is left', timeoutMs: 15_000 });
    await lab.client.reconnect();
  });
});
