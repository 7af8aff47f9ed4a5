import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Lab } from '../../scripts/lab/lab.ts';
import { startCluster, waitForAllActive } from '../kit/cluster.ts';
import { eventsSince, lastEvent, waitForEvent } from '../kit/router-view.ts';

const connections = 100;

/** BFD packets do not arrive at the load balancer any more, all else does. */
const deaf =
  'table inet deaf { chain c { type filter hook prerouting priority -400; udp dport 3784 drop; }; }';

describe('a router that hears no BFD for a moment', () => {
  let lab: Lab;
  // A lab for each: sessions that end again and again are held in Idle, which would keep the speakers away.
  beforeEach(async () => {
    lab = await startCluster({ masters: 3, bfd: 50 });
    await waitForAllActive(lab);
    await bfdIsUp();
    expect(await lab.client.open(connections)).toMatchObject({ opened: connections });
  });
  afterEach(async () => {
    await lab?.destroy();
  });

  const bfdIsUp = (): Promise<unknown> =>
    lab.lb.router.waitFor('BFD Up with all members', ({ vips }) =>
      vips.every(({ members }) =>
        members.every(({ bfd, session }) => bfd === 'Up' && session === 'Established'),
      ),
    );

  /** Turns the router deaf until it has lost all sessions, and gives what its events say of members meanwhile. */
  async function fallDeaf(): Promise<readonly unknown[]> {
    const before = await lastEvent(lab);
    await lab.lb.exec(['nft', '-f', '-'], { input: deaf });
    for (const { address } of lab.masters) {
      await waitForEvent(
        lab,
        before,
        `BFD with ${address} Down`,
        ({ type, peer, to }) => type === 'bfd-state' && peer === address && to === 'Down',
      );
    }
    await lab.lb.exec(['nft', 'delete', 'table', 'inet', 'deaf']);
    await bfdIsUp();
    const events = await eventsSince(lab, before);
    return events.filter(({ type, to }) => type === 'member-transition' && to === 'out');
  }

  it('takes nobody out and breaks no connection', async () => {
    expect(await fallDeaf()).toEqual([]);
    await waitForAllActive(lab);
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
  });

  it('takes nobody out and breaks no connection while every API server takes 1 to 3 s to answer', async () => {
    const before = await lastEvent(lab);
    await Promise.all(lab.masters.map((master) => master.setApiServer('slow')));
    await lab.lb.router.waitFor('no answer in time', ({ vips }) =>
      vips.every(({ members }) =>
        members.every(({ reason }) => /gave no complete answer|no complete answer/.test(reason)),
      ),
    );
    expect(await fallDeaf()).toEqual([]);
    // Longer than a member in doubt is kept that does not even accept a connection.
    await expect
      .poll(
        async () =>
          (await eventsSince(lab, before)).filter(({ type, to }) => type === 'bfd-state' && to === 'Up')
            .length,
      )
      .toBeGreaterThanOrEqual(lab.masters.length);
    expect(await lab.lb.pool()).toHaveLength(3);
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
    await Promise.all(lab.masters.map((master) => master.setApiServer('ready')));
    await waitForAllActive(lab, 60_000);
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
  });

  it('takes nobody out and breaks no connection while every /readyz is red', async () => {
    await Promise.all(lab.masters.map((master) => master.setApiServer('not-ready', ['etcd'])));
    await lab.lb.router.waitFor('nobody active', ({ vips }) =>
      vips.every(({ members }) => members.every(({ state }) => state === 'last-resort')),
    );
    expect(await fallDeaf()).toEqual([]);
    expect(await lab.lb.pool()).toHaveLength(3);
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
  });
});

describe('a router that hears nothing of its masters any more', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startCluster({ masters: 2, bfd: 50, upstream: 'frr' });
    await waitForAllActive(lab);
    await lab.upstream.waitForVipRoute(true);
  });
  afterAll(async () => {
    await lab?.destroy();
  });

  it('leaves the VIP to other load balancers while it may be the one that is deaf, and takes it again', async () => {
    const before = await lastEvent(lab);
    const cut =
      'table inet deaf { chain c { type filter hook prerouting priority -400; ip saddr 10.0.0.0/24 drop; }; }';
    await lab.lb.exec(['nft', '-f', '-'], { input: cut });
    await lab.upstream.waitForVipRoute(false);
    // A packet that is sent here nevertheless is forwarded: that the masters are dead is not known.
    expect(await lab.lb.pool()).toHaveLength(2);
    await lab.lb.exec(['nft', 'delete', 'table', 'inet', 'deaf']);
    await lab.upstream.waitForVipRoute(true, 20_000);
    await waitForAllActive(lab);
    expect(await lab.client.request()).toMatchObject({ ok: true });
    const lost = (await eventsSince(lab, before)).filter(
      ({ type, to }) => type === 'bfd-state' && to === 'Down',
    );
    expect(new Set(lost.map(({ peer }) => peer))).toEqual(new Set(lab.masters.map(({ address }) => address)));
  });

  it('serves on through masters whose speakers all hang at once while their API servers answer', async () => {
    const connections = 50;
    expect(await lab.client.open(connections)).toMatchObject({ opened: connections });
    for (const { speaker } of lab.masters) speaker.process?.signal('SIGSTOP');
    try {
      await lab.lb.router.waitFor('both wait for their speakers', ({ vips }) =>
        vips.every(({ members }) =>
          members.every(({ inPool, reason }) => inPool && reason.endsWith('waiting for its speaker')),
        ),
      );
      await lab.upstream.waitForVipRoute(true, 20_000);
      expect(await lab.client.request()).toMatchObject({ ok: true });
    } finally {
      for (const { speaker } of lab.masters) speaker.process?.signal('SIGCONT');
    }
    await waitForAllActive(lab);
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
  });
});
