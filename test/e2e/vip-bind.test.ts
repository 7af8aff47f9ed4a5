import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lab } from '../../scripts/lab/lab.ts';
import { addresses, startMaster } from '../kit/cluster.ts';

describe('a master with vipBind: false', () => {
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.create({ masters: 2, controlPlane: 'stand-in' });
    await lab.lb.router.start();
    await startMaster(lab, lab.master(1));
    await startMaster(lab, lab.master(2), { vipBind: false });
    await lab.lb.waitForPool(addresses([lab.master(1)]), 20_000);
    await lab.master(2).speaker.waitFor('advertised', ({ vips }) => vips[0]?.state === 'advertised', 20_000);
  }, 120_000);
  afterAll(() => lab?.destroy());

  it('serves nobody by a load balancer that forwards packets, whose doctor names it and what to change', async () => {
    const [, second] = addresses(lab.masters);
    await lab.lb.router.waitFor(
      'the member is known and is not used',
      ({ vips }) =>
        vips[0]?.members.some(
          ({ nextHop, inPool, health }) => nextHop === second && !inPool && health === 'failing',
        ) === true,
      20_000,
    );
    const { code, stdout } = await lab.lb.router.command(['doctor', '-o', 'json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({
        check: 'vip binding',
        level: 'fault',
        place: expect.stringContaining(`by ${second}`),
        fix: expect.stringContaining('dataplane.kind: haproxy'),
      }),
    );
  });

  it('has nothing of the VIP on itself, and says so', async () => {
    const { stdout } = await lab.master(2).speaker.command(['doctor', '-o', 'json']);
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({
        check: 'vip address',
        level: 'good',
        value: expect.stringContaining('vipBind: false'),
      }),
    );
  });
});
