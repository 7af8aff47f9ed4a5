import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import type { CommandResult } from '../../scripts/lab/run-command.ts';
import { BgpCapture, type CapturedMessage } from '../kit/bgp-capture.ts';
import { addresses, startCluster, waitForAllActive } from '../kit/cluster.ts';

const TIMEOUT = 300_000;
const vip = `${vipAddress}/32`;

describe('masters that are drained without force', { timeout: TIMEOUT }, () => {
  let lab: Lab;

  beforeAll(async () => {
    lab = await startCluster({
      controlPlane: 'stand-in',
      // Masters leave more than once, and are not to be held back for it.
      router: { pool: { flapHold: '0s' } },
      // A machine that is busy is not to look like an API server that is not well.
      speaker: { apiServer: { timeout: '2s', fall: 5 } },
    });
  }, TIMEOUT);
  afterAll(async () => {
    await lab.destroy();
  });

  function command(master: MasterHost, ...args: readonly string[]): Promise<CommandResult> {
    return master.speaker.query([...args, '-o', 'json'], 120_000);
  }

  it('know of each other by the router’s reflection, and the last one stays', async () => {
    const [first, second, third] = [lab.master(1), lab.master(2), lab.master(3)];
    const outcomes: unknown[] = [];
    for (const master of [second, third]) {
      const { code, stdout } = await command(master, 'drain');
      const { isDone, vips } = JSON.parse(stdout) as { isDone: boolean; vips: { others: string[] }[] };
      outcomes.push({ code, isDone, others: vips[0]?.others });
    }
    expect(outcomes).toEqual([
      { code: 0, isDone: true, others: addresses([first, third]) },
      { code: 0, isDone: true, others: addresses([first]) },
    ]);
    expect(await command(first, 'drain')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `nobody would serve ${vip}: no router has told of another master in service`,
      ),
    });
    expect((await first.speaker.status()).vips).toMatchObject([{ state: 'advertised' }]);
    expect(await lab.lb.pool()).toEqual(addresses([first]));
    for (const master of [second, third]) expect((await command(master, 'undrain')).code).toBe(0);
    await waitForAllActive(lab);
  });

  it('leave in order: announced, clients gone, withdrawn, the router has moved on, unbound, Cease with a text', async () => {
    const leaving = lab.master(2);
    await leaving.speaker.stop();
    leaving.writeSpeakerConfig('join', { stopMode: 'drain' });
    await leaving.startSpeaker();
    await waitForAllActive(lab);
    const opened = await lab.client.open(60, { connectTimeout: 20_000 });
    expect(opened.byMaster[leaving.name]).toBeGreaterThan(0);
    const unbound = await noteUnbinding(leaving);
    const capture = await BgpCapture.start(lab.lb, leaving.address);
    try {
      const find = (from: CapturedMessage['from'], text: RegExp): number | undefined =>
        capture.messages.find((message) => message.from === from && text.test(message.text))?.at;
      leaving.speaker.process?.signal('SIGTERM');
      await expect
        .poll(() => find('master', new RegExp(`announce ${vip}.*LOCAL_PREF 0; communities 65535:0`)), {
          timeout: 20_000,
        })
        .toBeDefined();
      const announced = find('master', /communities 65535:0/);
      expect(find('master', /withdraw/)).toBeUndefined();
      const clientsLeft = Date.now();
      await lab.client.closeAll();
      expect(await leaving.speaker.process?.exited).toMatchObject({ code: 0 });
      await expect.poll(() => find('master', /^NOTIFICATION/), { timeout: 20_000 }).toBeDefined();
      const order = {
        announced,
        clientsLeft,
        withdrawn: find('master', new RegExp(`^UPDATE withdraw ${vip}$`)),
        asked: find('master', /^ROUTE-REFRESH 1\/1 subtype 0/),
        movedOn: find('router', /^ROUTE-REFRESH 1\/1 subtype 2/),
        unbound: unbound.at(),
        ceased: find('master', /^NOTIFICATION 6\/2 .*the speaker was stopped and has drained/),
      };
      const times = Object.values(order);
      expect(times, JSON.stringify(capture.messages, null, 1)).not.toContain(undefined);
      const sorted = Object.entries(order).sort(([, a], [, b]) => (a ?? 0) - (b ?? 0));
      expect(
        sorted.map(([name]) => name),
        JSON.stringify(order),
      ).toEqual(Object.keys(order));
    } finally {
      await capture.stop();
      await unbound.stop();
    }
  });

  /** When the kernel told that the VIP was removed from this master, in milliseconds since the epoch. */
  async function noteUnbinding(
    master: MasterHost,
  ): Promise<{ at(): number | undefined; stop(): Promise<void> }> {
    const argv = ['nice', '-n', '-20', 'ip', '-ts', '-o', 'monitor', 'address'];
    const monitor = master.spawn('ip-monitor', argv, { hasPipes: true });
    const lines: string[] = [];
    createInterface({ input: monitor.pipes.output }).on('line', (line) => lines.push(line));
    const isSeen = (text: string): string | undefined => lines.find((line) => line.includes(text));
    // It does not say when it has begun to listen.
    const probe = '192.0.2.1/32';
    await expect
      .poll(
        async () => {
          await master.exec([
            'ip',
            'address',
            'replace',
            probe,
            'dev',
            'lo',
            'valid_lft',
            '60',
            'preferred_lft',
            '0',
          ]);
          return isSeen(probe);
        },
        { timeout: 20_000 },
      )
      .toBeDefined();
    return {
      at: () => {
        const line = lines.find((each) => each.includes('Deleted') && each.includes(vip));
        const time = line === undefined ? undefined : /\[(\S+)\]/.exec(line)?.[1];
        return time === undefined ? undefined : Date.parse(time) + microseconds(time);
      },
      stop: async () => {
        await monitor.kill();
        await master.exec(['ip', 'address', 'delete', probe, 'dev', 'lo']).catch(() => undefined);
      },
    };
  }
});

/** What Date.parse leaves out, in milliseconds. */
function microseconds(time: string): number {
  return Number(`0.000${/\.\d{3}(\d{3})$/.exec(time)?.[1] ?? '0'}`) * 1_000;
}
