import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { localAsn, vipAddress } from '../../scripts/lab/addresses.ts';
import { type Frr, hasFrr } from '../../scripts/lab/frr.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import { addresses, brokenAt, startMaster, waitForAllActive } from '../kit/cluster.ts';
import { bgpConfig, startFrrMaster } from '../kit/frr-master.ts';
import { member, neighbor } from '../kit/router-view.ts';

const announcement = `network ${vipAddress}/32`;
const connections = 90;

describe.skipIf(!hasFrr())('FRR 8.4 as a master beside ours', () => {
  let lab: Lab;
  let frr: Frr;
  beforeAll(async () => {
    lab = await Lab.create({ masters: 3, controlPlane: 'stand-in' });
    await lab.lb.router.start();
    await startMaster(lab, lab.master(1));
    await startMaster(lab, lab.master(2));
    frr = await startFrrMaster(lab, lab.master(3), [announcement]);
    await lab.lb.waitForPool(addresses(lab.masters));
  });
  afterAll(async () => {
    await lab.destroy();
  });
  beforeEach(async () => {
    await lab.client.closeAll();
    await lab.client.open(connections);
  });

  const announce = (...lines: string[]): Promise<void> =>
    frr.configure(`router bgp ${localAsn}`, 'address-family ipv4 unicast', ...lines);
  const ours = (): ReturnType<Lab['master']>[] => [lab.master(1), lab.master(2)];

  it('has an iBGP session with MD5 and GTSM, and is in the pool', async () => {
    expect(await neighbor(lab, lab.master(3).address)).toMatchObject({
      state: 'Established',
      prefixes: { received: 1, rejected: 0 },
    });
    expect(await frr.neighbor(lab.lb.address)).toMatchObject({ bgpState: 'Established' });
    expect(await member(lab, lab.master(3))).toMatchObject({ state: 'active', weight: 256 });
  });

  it('serves its share of the clients', async () => {
    const { byMaster } = await lab.client.check();
    // A third of 90, give or take five standard deviations.
    expect(byMaster['m3']).toBeGreaterThan(7);
    expect(byMaster['m3']).toBeLessThan(53);
  });

  it('is told of no route but the VIP', async () => {
    const { routes } = await frr.show<{ routes: Record<string, unknown> }>(
      `show bgp ipv4 unicast neighbors ${lab.lb.address} routes json`,
    );
    expect(Object.keys(routes).filter((prefix) => prefix !== `${vipAddress}/32`)).toEqual([]);
  });

  it('leaves when it withdraws, and breaks nobody else, nor anybody when it returns', async () => {
    await announce(`no ${announcement}`);
    await lab.lb.waitForPool(addresses(ours()));
    expect(await member(lab, lab.master(3))).toMatchObject({ session: 'Established', inPool: false });
    expect(brokenAt(ours(), (await lab.client.check()).brokenByMaster)).toBe(0);

    await lab.client.closeAll();
    await lab.client.open(connections);
    await announce(announcement);
    await lab.lb.waitForPool(addresses(lab.masters));
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
  });

  it('leaves when it asks for it by GRACEFUL_SHUTDOWN, keeping what it has', async () => {
    await frr.configure(`router bgp ${localAsn}`, 'bgp graceful-shutdown');
    await expect
      .poll(() => member(lab, lab.master(3)), { timeout: 10_000, interval: 50 })
      .toMatchObject({ inPool: true, weight: 1 });
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
    await frr.configure(`router bgp ${localAsn}`, 'no bgp graceful-shutdown');
    await expect
      .poll(() => member(lab, lab.master(3)), { timeout: 10_000, interval: 50 })
      .toMatchObject({ state: 'active', weight: 256 });
  });

  it('is stale and serves on when bgpd is killed, and is back with the next one', async () => {
    await frr.kill();
    await lab.lb.router.waitFor('m3 stale', ({ vips }) =>
      vips.some(({ members }) =>
        members.some(
          ({ nextHop, state, inPool }) => nextHop === lab.master(3).address && state === 'stale' && inPool,
        ),
      ),
    );
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
    await frr.start(bgpConfig(lab, lab.master(3), [announcement]));
    await waitForAllActive(lab);
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
  });

  it('is gone when it is switched off, and only its connections break', async () => {
    await lab.master(3).powerOff();
    await lab.lb.waitForPool(addresses(ours()));
    expect(brokenAt(ours(), (await lab.client.check()).brokenByMaster)).toBe(0);
  });
});
