import { afterEach, describe, expect, it } from 'vitest';
import { freePort, LoopbackMaster, masters, routerNeighbors } from '../bgp/testing/loopback-bgp.ts';
import { BgpMembership } from './bgp-membership.ts';
import type { MembershipEvent } from './membership-source.ts';
import { type MembershipHarness, membershipConformance } from './testing/membership-conformance.ts';

const VIP = '10.100.0.1/32';

membershipConformance('BGP', async (): Promise<MembershipHarness> => {
  const port = await freePort();
  const source = new BgpMembership(routerNeighbors(port, [masters]));
  const made: LoopbackMaster[] = [];
  return {
    source,
    vip: VIP,
    otherVip: '10.100.0.2/32',
    async join(number, vips = []) {
      const master = new LoopbackMaster(`10.0.0.1${number}`, port, vips);
      made.push(master);
      await master.established();
      return {
        nextHop: master.address,
        announce: (vip, intent = 'active') => master.announce(vip, { intent }),
        withdraw: (vip) => master.withdraw(vip),
        die: () => master.die(),
        leave: () => master.leave(),
      };
    },
    async close() {
      await Promise.all(made.map((master) => master.die()));
    },
  };
});

describe('what a master may not announce', () => {
  const cleanUp: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const close of cleanUp.splice(0)) {
      await close();
    }
  });

  it.each([
    ['a default route', '0.0.0.0/0', undefined, 'not a configured VIP: 0.0.0.0/0'],
    ["another cluster's VIP", '10.100.0.2/32', undefined, 'not a configured VIP: 10.100.0.2/32'],
    ['a VIP by another next hop', VIP, '10.0.0.99', 'next hop is not the peer: 10.0.0.99'],
  ])('%s is dropped, and shown with the reason', async (_, prefix, nextHop, reason) => {
    const port = await freePort();
    const bgp = routerNeighbors(port, [masters]);
    const membership = new BgpMembership(bgp);
    cleanUp.push(() => membership.stop());
    const events: MembershipEvent[] = [];
    const complete = new Promise<void>((resolve) => {
      void membership.start((event) => {
        events.push(event);
        if (event.type === 'announced' && event.vip === VIP && events.length > 1) {
          resolve();
        }
      });
    });
    const master = new LoopbackMaster('10.0.0.11', port);
    cleanUp.push(() => master.die());
    await master.established();
    master.announce(prefix, nextHop === undefined ? {} : { nextHop });
    const second = new LoopbackMaster('10.0.0.12', port);
    cleanUp.push(() => second.die());
    await second.established();
    second.announce(VIP);
    await complete;
    const rejected = bgp.peers('master').flatMap(({ peer }) => peer.adjRibIn?.rejected.last ?? []);
    expect(rejected.map((path) => path.reason)).toEqual([reason]);
    expect(
      events.filter(({ type, nextHop: member }) => type === 'announced' && member === '10.0.0.11'),
    ).toEqual([]);
  });
});
