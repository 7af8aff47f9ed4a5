/** The router is stopped, killed and upgraded while packets go through it: the kernel forwards on, and none is lost. */
import { cpSync, rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import { startCluster, waitForAllActive } from '../kit/cluster.ts';
import { addSources, EchoStream } from '../kit/echo-stream.ts';
import { NotifySocket } from '../kit/notify-socket.ts';

const eventually = { timeout: 60_000, interval: 50 };
/** Bucket counts of two releases: the kernel cannot change the number of a group, so that an upgrade makes another one. */
const buckets = { before: 16_384, now: 4096 };

describe('packets through a router that is started again', () => {
  let lab: Lab;
  let sources: readonly string[];
  let stream: EchoStream | undefined;

  beforeAll(async () => {
    lab = await startCluster({
      controlPlane: 'stand-in',
      router: { dataplane: { buckets: buckets.before } },
    });
    await waitForAllActive(lab);
    sources = await addSources(lab.client, '10.0.2', 100, 24);
  }, 120_000);
  afterEach(async () => {
    await stream?.kill();
    stream = undefined;
  });
  afterAll(async () => {
    await lab?.destroy();
  });

  /** The packets of a second, or of longer where the machine is busy. */
  async function packets(running: EchoStream): Promise<void> {
    const wanted = (await running.sent()) + 500;
    await expect.poll(() => running.sent(), eventually).toBeGreaterThan(wanted);
  }

  /** Sends packets all the while, and before, between and after: what became of them. */
  async function during(stop: () => Promise<unknown>, start: () => Promise<unknown>): Promise<unknown> {
    const running = await EchoStream.start(lab.client, vipAddress, sources);
    stream = running;
    await packets(running);
    await stop();
    await packets(running);
    await start();
    await waitForAllActive(lab, 60_000);
    await packets(running);
    const { sent, ...lost } = await running.stop();
    expect(sent).toBeGreaterThan(1500);
    return lost;
  }

  const nothing = { lost: 0, unreachable: 0 };

  it.each(['stop', 'kill'] as const)('are not lost by its %s, nor by the start', async (how) => {
    const { router } = lab.lb;
    expect(
      await during(
        () => router[how](),
        () => router.start(),
      ),
    ).toEqual(nothing);
  });

  it('are not lost by an upgrade that finds the state and the next-hop groups of an earlier release', async () => {
    const { lb } = lab;
    const upgrade = async (): Promise<void> => {
      await lb.router.stop();
      rmSync(lb.path('var/lib/bgp-lb'), { recursive: true });
      cpSync(new URL('../state/router-0.1', import.meta.url), lb.path('var/lib/bgp-lb'), { recursive: true });
      lb.writeConfig({ routerId: undefined, dataplane: { buckets: buckets.now } });
    };
    expect(await during(upgrade, () => lb.router.start())).toEqual(nothing);
    expect((await lb.router.status()).routerId).toBe('10.0.0.200');
    const { vips } = (await lb.router.request('GET', '/api/v1/fib')) as {
      vips: { members: { buckets: number }[] }[];
    };
    const shares = vips[0]?.members.map((member) => member.buckets) ?? [];
    expect(shares.reduce((sum, count) => sum + count, 0)).toBe(buckets.now);
  });

  it('reach a service manager’s ear: ready, how many members are forwarded to, well, and stopping', async () => {
    const { lb } = lab;
    await lb.router.stop();
    const manager = await NotifySocket.open(lb);
    try {
      await lb.router.start(30_000, { NOTIFY_SOCKET: manager.path, WATCHDOG_USEC: '2000000' });
      await waitForAllActive(lab);
      const served = (count: number): string => `STATUS=${vipAddress} forwarded to ${count} of 3 members`;
      await expect.poll(() => manager.told, eventually).toContain(served(3));
      await expect
        .poll(() => manager.told.filter((line) => line === 'WATCHDOG=1').length, eventually)
        .toBeGreaterThan(2);
      await lab.master(3).setApiServer('closed');
      await expect.poll(() => manager.told, eventually).toContain(served(2));
      await lb.router.stop();
      await expect.poll(() => manager.told, eventually).toContain('STOPPING=1');
      const told = manager.told.filter((line) => line !== 'WATCHDOG=1');
      expect(told.filter((line) => line === 'READY=1')).toHaveLength(1);
      // One line for each change, however many events there were.
      expect(told.filter((line, index) => line === told[index - 1])).toEqual([]);
    } finally {
      await manager.close();
    }
  });
});
