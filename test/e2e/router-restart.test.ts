/** The router is stopped, killed and upgraded while packets go through it: the kernel forwards on, and none is lost. */
import { cpSync, rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import { addresses, startCluster, waitForAllActive } from '../kit/cluster.ts';
import { addSources, EchoStream } from '../kit/echo-stream.ts';
import { NotifySocket } from '../kit/notify-socket.ts';

const eventually = { timeout: 60_000, interval: 50 };
/** Bucket counts of two releases: the kernel cannot change the number of a group, so that an upgrade makes another one. */
const buckets = { before: 16_384, now: 4096 };

describe('packets through a router that is started again', { timeout: 150_000 }, () => {
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
    if (lab.lb.router.isRunning) await undrainAll();
    await stream?.kill();
    stream = undefined;
  });
  afterAll(async () => {
    await lab?.destroy();
  });

  /** The packets of a moment, which is longer where the machine is busy. */
  async function packets(): Promise<void> {
    const sent = async (): Promise<number> => (await stream?.sent()) ?? 0;
    const wanted = (await sent()) + 300;
    await expect.poll(sent, eventually).toBeGreaterThan(wanted);
  }

  /** Sends packets all the while, and before, between and after: what became of them. */
  async function during(stop: () => Promise<unknown>, start: () => Promise<unknown>): Promise<unknown> {
    const running = await EchoStream.start(lab.client, vipAddress, sources);
    stream = running;
    await packets();
    await stop();
    await packets();
    await start();
    await waitForAllActive(lab, 60_000);
    await packets();
    const { sent, ...lost } = await running.stop();
    expect(sent).toBeGreaterThan(900);
    return lost;
  }

  const nothing = { lost: 0, unreachable: 0 };

  it('are not lost by its stop and its kill -9, nor by the starts', async () => {
    const { router } = lab.lb;
    const stopAndKill = async (): Promise<void> => {
      await router.stop();
      await packets();
      await router.start();
      await waitForAllActive(lab, 60_000);
      await router.kill();
    };
    expect(await during(stopAndKill, () => router.start())).toEqual(nothing);
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

  /** Takes every member back, whatever a test has done. */
  async function undrainAll(): Promise<void> {
    const drains = (await lab.lb.router.request('GET', '/api/v1/member-drains')) as { member: string }[];
    for (const { member } of drains) {
      await lab.lb.router.request('POST', '/api/v1/member-undrain', { member });
    }
  }

  it('go to no member that the operator drains here, also after a restart, and none is lost by that', async () => {
    const { lb } = lab;
    const [first, second, third] = addresses(lab.masters) as [string, string, string];
    const running = await EchoStream.start(lab.client, vipAddress, sources);
    stream = running;
    await packets();
    const drain = await lb.router.query(['drain', third, '--wait', '1s'], 60_000);
    expect(drain).toMatchObject({ code: 0, stdout: expect.stringContaining(`${third} is out here`) });
    expect(await lb.pool()).toEqual([first, second]);
    await lb.router.kill();
    await lb.router.start();
    const members = async (): Promise<unknown> =>
      (await lb.router.status()).vips[0]?.members.map(({ nextHop, session, health, state, reason }) =>
        [nextHop, session, health, state, reason].join(' '),
      );
    await expect
      .poll(members, eventually)
      .toEqual([
        `${first} Established passing active `,
        `${second} Established passing active `,
        `${third} Established passing out drained here by the operator`,
      ]);
    const order = (member: string): Promise<unknown> =>
      lb.router.request('POST', '/api/v1/member-drains', { member, wait: 0 });
    await order(second);
    await expect(order(first)).rejects.toThrow(`nobody else is active for ${vipAddress}/32`);
    await lb.waitForPool([first]);
    expect((await lb.router.query(['undrain', third], 60_000)).code).toBe(0);
    await undrainAll();
    await waitForAllActive(lab, 60_000);
    await packets();
    expect(await running.stop()).toMatchObject(nothing);
  });

  it('reach a service manager’s ear: ready, how many members are forwarded to, well, and stopping', async () => {
    const { lb } = lab;
    await lb.router.stop();
    const manager = await NotifySocket.open(lb);
    try {
      await lb.router.start(30_000, { NOTIFY_SOCKET: manager.path, WATCHDOG_USEC: '2000000' });
      await waitForAllActive(lab, 60_000);
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
