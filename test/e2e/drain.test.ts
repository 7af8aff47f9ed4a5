import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { LoopReport, RequestResult } from '../../scripts/lab/client-protocol.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import type { CommandResult } from '../../scripts/lab/run-command.ts';
import { heal, startCluster } from '../kit/cluster.ts';

/**
 * The restart of an API server is a fifth as long as a real one here, with as many requests. `RESTART_IN_FULL=1`: as
 * kubeadm configures it, --shutdown-delay-duration=15s, with 6,000 requests.
 */
const isFull = process.env['RESTART_IN_FULL'] === '1';
const restart = isFull ? { delay: 15_000, requests: 6_000 } : { delay: 3_000, requests: 600 };
const allWays = ['new', 'kept-http1', 'kept-http2'] as const;

const TIMEOUT = 300_000;

describe('a master that leaves', { timeout: TIMEOUT }, () => {
  let lab: Lab;
  let leaving: MasterHost;

  beforeAll(async () => {
    lab = await startCluster({
      controlPlane: 'stand-in',
      shutdownDelay: restart.delay,
      // The same master leaves again and again, and is not to be held back for it.
      router: { pool: { flapHold: '0s' } },
      // A machine that is busy is not to look like an API server that is not well.
      speaker: { drain: { timeout: '60s' }, apiServer: { timeout: '2s', fall: 5 } },
    });
    leaving = lab.master(2);
  }, TIMEOUT);
  afterAll(async () => {
    await lab.destroy();
  });
  afterEach(async () => {
    // With its loop and all its connections.
    await lab.client.stop();
    await leaving.speaker.request('POST', '/api/v1/undrain');
    await heal(lab);
  }, TIMEOUT);

  function drain(...args: readonly string[]): Promise<CommandResult> {
    return leaving.speaker.query(['drain', '--force', '-o', 'json', ...args], 120_000);
  }

  it('by command breaks none of 300 connections that end before its time, and no request', async () => {
    const opened = await lab.client.open(300, {
      exchangeEvery: 500,
      lifetime: 6_000,
      connectTimeout: 20_000,
    });
    expect(opened).toMatchObject({ opened: 300, failed: 0 });
    expect(opened.byMaster[leaving.name]).toBeGreaterThan(0);
    await lab.client.startLoop({ every: 50, timeout: 10_000 });
    // The order first: the command takes its time to start, and then waits.
    const begun = await leaving.speaker.request('POST', '/api/v1/drain', { force: true });
    expect(begun).toMatchObject({ isDone: false, clients: [{ address: lab.client.address }] });
    const { code, stdout, stderr } = await drain();
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ isDone: true, connections: 0, reset: [] });
    expect(await lab.lb.pool()).not.toContain(leaving.address);
    expect(await leaving.hasVip()).toBe(false);
    const loop = await lab.client.stopLoop();
    expect(loop).toMatchObject({ failed: 0, reasons: {} });
    expect(loop.ok).toBeGreaterThan(0);
    await expect
      .poll(() => lab.client.check(10_000), { timeout: 30_000 })
      .toMatchObject({ alive: 0, broken: 0, finished: 300 });
  });

  it('resets at its time exactly those of 300 immortal connections that are its own', async () => {
    const opened = await lab.client.open(300, { exchangeEvery: 500, connectTimeout: 20_000 });
    expect(opened).toMatchObject({ opened: 300, failed: 0 });
    const own = opened.byMaster[leaving.name] ?? 0;
    expect(own).toBeGreaterThan(0);
    const { code, stdout } = await drain('--timeout', '2s');
    expect(code).toBe(0);
    const { reset } = JSON.parse(stdout) as { reset: { count: number; clients: string[] }[] };
    expect(reset).toMatchObject([{ count: own, clients: [lab.client.address] }]);
    expect(await lab.client.check(10_000)).toMatchObject({
      alive: 300 - own,
      broken: own,
      brokenByMaster: { [leaving.name]: own },
    });
  });

  it('for the restart of its API server loses no request, nor one that is under way when its port closes', async () => {
    const { delay, requests } = restart;
    await lab.client.startLoop({
      every: (delay * 2) / requests,
      timeout: 20_000,
      connections: allWays,
    });
    await waitForRequests(requests / 4);
    const slow = await sendSlowRequests(delay + 6_000);
    await leaving.stopApiServer();
    await leaving.startApiServer();
    await waitForRequests(requests);
    const loop = await lab.client.stopLoop();
    report(`restart with a delay of ${delay / 1000} s`, loop);
    expect(loop).toMatchObject({ failed: 0, reasons: {}, failedBy: {} });
    expect(loop.byMaster[leaving.name]).toBeGreaterThan(0);
    const answers = await Promise.all(slow);
    expect(answers.filter(({ ok }) => !ok)).toEqual([]);
    expect(answers.map(({ master }) => master)).toContain(leaving.name);
  });

  it('for a restart with kubeadm’s default delay is drained before the port closes; what is lost is reported', async () => {
    await leaving.stopApiServer();
    await leaving.startApiServer('ready', 500);
    await heal(lab);
    await lab.client.startLoop({ every: 10, timeout: 20_000, connections: allWays });
    await waitForRequests(200);
    await leaving.stopApiServer();
    await leaving.startApiServer();
    await waitForRequests(600);
    const loop = await lab.client.stopLoop();
    report('restart with the default delay, 0.5 s', loop);
    // What was sent when the port closed may be lost, not more.
    expect(loop.failed).toBeLessThan(loop.sent / 50);
  });

  /** Under way at every master, and answered a second after its port has closed, or after `ms`. */
  async function sendSlowRequests(ms: number): Promise<readonly Promise<RequestResult>[]> {
    const count = 60;
    const path = `/slow?ms=${ms}`;
    const answers = Array.from({ length: count }, () => lab.client.request({ path, timeout: 60_000 }));
    const underWay = async (): Promise<number> => {
      const states = await Promise.all(lab.masters.map((master) => master.apiServerState()));
      return states.reduce((sum, { inFlight }) => sum + inFlight, 0);
    };
    await expect.poll(underWay, { timeout: 20_000 }).toBeGreaterThanOrEqual(count);
    return answers;
  }

  /** A figure for people: it is not judged here. */
  function report(what: string, loop: LoopReport): void {
    process.stderr.write(`${what}: ${JSON.stringify(loop)}\n`);
  }

  async function waitForRequests(count: number): Promise<void> {
    await expect
      .poll(async () => (await lab.client.loopReport()).sent, { timeout: 200_000, interval: 200 })
      .toBeGreaterThanOrEqual(count);
  }
});
