import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Lab } from '../../scripts/lab/lab.ts';
import { startCluster } from '../kit/cluster.ts';

describe('one slow etcd election turns every /readyz red for 30 s', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startCluster({ masters: 3 });
  });
  afterAll(async () => {
    await lab.destroy();
  });

  it.each(['not-ready', 'hang'] as const)(
    'breaks nothing and serves new clients while all answer as %s',
    async (mode) => {
      await lab.client.closeAll();
      await lab.client.open(150);
      await Promise.all(lab.masters.map((master) => master.setApiServer(mode, ['etcd'])));
      await lab.lb.router.waitFor('nobody active', ({ vips }) =>
        vips.every(({ members }) => members.every(({ state }) => state !== 'active')),
      );
      await lab.client.startLoop({ every: 200 });
      // The time is the test: evictAfter is 15 s, and nothing may happen at its end.
      await sleep(30_000);
      const { failed, sent } = await lab.client.stopLoop();
      if (mode === 'not-ready') expect({ failed, enough: sent > 100 }).toEqual({ failed: 0, enough: true });
      expect(await lab.client.check()).toMatchObject({ alive: 150, broken: 0 });
      expect(await lab.lb.pool()).toHaveLength(3);
      await Promise.all(lab.masters.map((master) => master.setApiServer('ready')));
      await lab.lb.router.waitFor('all active', ({ vips }) =>
        vips.every(({ members }) => members.every(({ state }) => state === 'active')),
      );
      expect(await lab.client.check()).toMatchObject({ alive: 150, broken: 0 });
    },
  );
});
