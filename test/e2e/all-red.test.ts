import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Lab } from '../../scripts/lab/lab.ts';
import { heal, startCluster } from '../kit/cluster.ts';

const connections = 150;

describe('one slow etcd election that turns every /readyz red', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startCluster({ masters: 3, router: { pool: { evictAfter: '5s' } } });
  });
  afterAll(async () => {
    await lab.destroy();
  });
  beforeEach(async () => {
    await heal(lab);
    await lab.client.closeAll();
    expect(await lab.client.open(connections)).toMatchObject({ opened: connections });
  });

  async function allTurn(mode: 'not-ready' | 'hang'): Promise<void> {
    await Promise.all(lab.masters.map((master) => master.setApiServer(mode, ['etcd'])));
    await lab.lb.router.waitFor('nobody active', ({ vips }) =>
      vips.every(({ members }) => members.every(({ state }) => state !== 'active')),
    );
  }

  /** All turn green again, one after the other as it happens, and the pool is as it was. */
  async function recover(): Promise<void> {
    for (const master of lab.masters) await master.setApiServer('ready');
    await heal(lab);
  }

  it('breaks no connection and refuses no new one in 30 s, nor when they recover', async () => {
    await allTurn('not-ready');
    await lab.client.startLoop({ every: 200 });
    // The time is the test: evictAfter comes to its end in it, and nothing may happen then.
    await sleep(30_000);
    const { failed, sent, reasons } = await lab.client.stopLoop();
    expect({ failed, reasons }).toEqual({ failed: 0, reasons: {} });
    expect(sent).toBeGreaterThan(100);
    expect(await lab.lb.pool()).toHaveLength(3);
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
    await recover();
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
  });

  it('breaks no connection while requests hang, nor when they recover', async () => {
    await allTurn('hang');
    await sleep(8_000);
    expect(await lab.lb.pool()).toHaveLength(3);
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
    await recover();
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
  });
});
