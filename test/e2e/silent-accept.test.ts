import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Lab } from '../../scripts/lab/lab.ts';
import { startCluster, waitForAllActive } from '../kit/cluster.ts';

describe('a load balancer that loses power when its kernel has taken the OPEN of a master', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startCluster({ masters: 1 });
    await waitForAllActive(lab);
  });
  afterAll(async () => {
    await lab?.destroy();
  });

  it('has the master back soon after it is on again', async () => {
    const { router } = lab.lb;
    const { speaker } = lab.master(1);
    router.process?.signal('SIGSTOP');
    await speaker.kill();
    // All that the speaker sends is acknowledged now, and nothing is answered.
    speaker.spawn();
    await speaker.waitFor('an OPEN on its way', ({ routers }) =>
      routers.every(({ session }) => session === 'OpenSent'),
    );
    await lab.lb.powerOff();
    await lab.lb.powerOn();
    await router.start();
    // Nothing tells the speaker that its connection is gone; RFC 4271's four minutes would be an outage.
    await waitForAllActive(lab, 60_000);
    expect(await lab.client.request()).toMatchObject({ ok: true });
  });
});
