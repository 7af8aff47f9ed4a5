/** From kubeadm's success to clients: the marker is written, and the LB's kernel sends VIP traffic to the master. */
import { rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { startMaster } from '../kit/cluster.ts';

const limitMs = 1_500;
const runs = 5;

interface Nexthop {
  readonly id: number;
  readonly gateway?: string;
  readonly group?: readonly { readonly id: number }[];
}

describe('a master whose kubeadm has just succeeded', () => {
  let lab: Lab;
  let joiner: MasterHost;

  beforeAll(async () => {
    // The intervals of the defaults, which the lab otherwise shortens.
    lab = await Lab.create({
      masters: 2,
      controlPlane: 'stand-in',
      router: { healthCheck: { interval: '1s', rise: 2 } },
    });
    joiner = lab.master(2);
    await lab.lb.router.start(60_000);
    await startMaster(lab, lab.master(1));
    await lab.lb.waitForPool([lab.master(1).address], 60_000);
    await joiner.installCertificates(lab.master(1));
    await joiner.startApiServer();
    joiner.writeSpeakerConfig('join');
  });
  afterAll(async () => {
    await lab.destroy();
  });

  const isInGroup = async (): Promise<boolean> => {
    const nexthops = await lab.lb.ipJson<Nexthop[]>('nexthop', 'show', 'protocol', '84');
    const id = nexthops.find(({ gateway }) => gateway === joiner.address)?.id;
    return nexthops.some(({ group }) => group?.some((member) => member.id === id) === true);
  };

  /** Milliseconds from the marker to the change of the group in the LB's kernel that brings the master in. */
  async function measure(): Promise<number> {
    await joiner.startSpeaker();
    await joiner.speaker.waitFor(
      'a green /readyz and a session',
      ({ gates, routers }) =>
        routers.every(({ session }) => session === 'Established') &&
        gates.some(({ name, pass }) => name === 'readyz' && pass),
    );
    expect(await isInGroup()).toBe(false);
    const monitor = lab.lb.spawn('ip-monitor', ['ip', 'monitor', 'nexthop'], { hasPipes: true });
    const changes: number[] = [];
    createInterface({ input: monitor.pipes.output }).on('line', () => changes.push(performance.now()));
    try {
      const since = performance.now();
      writeFileSync(joiner.markerFile, '');
      await waitUntil(isInGroup, { what: 'the master in the group', everyMs: 5, timeoutMs: 60_000 });
      const seen = performance.now();
      // A look takes time of its own; the kernel's notification tells when it happened.
      return Math.round((changes.filter((at) => at <= seen).at(-1) ?? seen) - since);
    } finally {
      await monitor.kill();
      await joiner.speaker.kill();
      expect((await joiner.speaker.command(['prepare', '--role', 'join'], 60_000)).code).toBe(0);
      rmSync(joiner.markerFile, { force: true });
      await lab.lb.waitForPool([lab.master(1).address], 60_000);
    }
  }

  it(`is in the LB's kernel within ${limitMs} ms`, { timeout: 400_000 }, async () => {
    const times: number[] = [];
    for (let run = 0; run < runs; run += 1) times.push(await measure());
    times.sort((a, b) => a - b);
    process.stdout.write(`marker to the VIP in the LB's kernel: ${times.join(', ')} ms (limit ${limitMs})\n`);
    // The best is the program's, what others take more is the machine's that runs this.
    expect(times[0]).toBeLessThanOrEqual(limitMs);
  });
});
