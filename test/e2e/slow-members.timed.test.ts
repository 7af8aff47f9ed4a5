import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { addresses, heal, others, startCluster, waitForAllActive } from '../kit/cluster.ts';

const TIMEOUT = 120_000;
const connections = 80;
/** Processes that want a processor all the time. */
const LOAD = 8;

describe('a busy machine whose API servers take 1 to 3 s to answer', { timeout: TIMEOUT }, () => {
  let lab: Lab;
  const burning: ChildProcess[] = [];

  beforeAll(async () => {
    lab = await startCluster({ masters: 2 });
  }, TIMEOUT);
  afterAll(async () => {
    await lab.destroy();
  });
  beforeEach(async () => {
    await lab.client.closeAll();
    expect(await lab.client.open(connections)).toMatchObject({ opened: connections, failed: 0 });
    for (let n = 0; n < LOAD; n++) {
      burning.push(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
    }
  });
  afterEach(async () => {
    const ends = burning.splice(0).map((child) => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      return ended;
    });
    await Promise.all(ends);
    await heal(lab);
  });

  /** Waits until so many probes in a row have failed that the member is failing, while nothing vouches for it. */
  async function failsUnclaimed(victim: MasterHost): Promise<void> {
    await lab.lb.router.waitFor(
      `${victim.name} stale and slow`,
      ({ vips }) =>
        vips.some(({ members }) =>
          members.some(
            ({ nextHop, state, reason }) =>
              nextHop === victim.address &&
              state === 'stale' &&
              /accepted the connection, but gave no complete answer/.test(reason),
          ),
        ),
      30_000,
    );
  }

  it('keeps all connections to a living master whose speaker is killed, until its speaker is back', async () => {
    const victim = lab.master(2);
    await Promise.all(lab.masters.map((master) => master.setApiServer('slow')));
    await victim.speaker.kill();
    await failsUnclaimed(victim);
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
    await Promise.all(lab.masters.map((master) => master.setApiServer('ready')));
    await victim.startSpeaker();
    await waitForAllActive(lab, 60_000);
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
  });

  it('keeps them when the router was started again too, and found the master in the kernel', async () => {
    const victim = lab.master(2);
    await Promise.all([victim.speaker.kill(), lab.lb.router.kill()]);
    await victim.setApiServer('slow');
    await lab.lb.router.start();
    await failsUnclaimed(victim);
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
  });

  it('takes the master out as soon as nothing listens there any more', async () => {
    const victim = lab.master(2);
    await victim.setApiServer('slow');
    await victim.speaker.kill();
    await failsUnclaimed(victim);
    await victim.apiServer?.kill();
    await lab.lb.waitForPool(addresses(others(lab, victim)), 10_000);
  });
});
