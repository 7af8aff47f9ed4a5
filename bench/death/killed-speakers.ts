/** The death that is none: the speaker's process is killed while its master serves on. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster, waitForAllActive } from '../../test/kit/cluster.ts';

/** Every master's speaker is killed once, and started again. */
export interface KilledSpeakers {
  readonly killed: number;
  /** Of the long connections of the client, over all kills and returns. */
  readonly connections: number;
  readonly broken: number;
  /** Requests by new connections meanwhile. */
  readonly requests: number;
  readonly failed: number;
  /** How often a killed speaker's master was out of the pool after the time below. */
  readonly lost: number;
}

const connections = 300;
/** ms after the kill: several Detection Times. */
const wait = 1_000;

/** Kills the speakers of three masters with `kill -9`, one after the other, with BFD at 50 ms x 3. */
export async function measureKilledSpeakers(): Promise<KilledSpeakers> {
  const lab = await startCluster({ masters: 3, controlPlane: 'stand-in', bfd: 50 });
  try {
    await lab.client.open(connections);
    await lab.client.startLoop({ every: 20 });
    let lost = 0;
    for (const master of lab.masters) {
      await master.speaker.kill();
      await sleep(wait);
      if (!(await lab.lb.pool()).includes(master.address)) lost += 1;
      await master.startSpeaker();
      await waitForAllActive(lab);
    }
    const { sent, failed } = await lab.client.stopLoop();
    const { broken } = await lab.client.check();
    return { killed: lab.masters.length, connections, broken, requests: sent, failed, lost };
  } finally {
    await lab.destroy();
  }
}
