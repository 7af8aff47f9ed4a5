import { describe, expect, it } from 'vitest';
import type { RouterConfig } from '../config/router-config.ts';
import { BgpMembership } from '../membership/bgp-membership.ts';
import type { MembershipEvent } from '../membership/membership-source.ts';
import { vipOf } from '../testing/vip-of.ts';
import { freePort, LoopbackMaster, masters, routerNeighbors } from './testing/loopback-bgp.ts';

const [first, second] = ['10.100.0.1/32', '10.100.0.2/32'];
const announced = (...addresses: readonly string[]): Pick<RouterConfig, 'vips'> => ({
  vips: addresses.map(vipOf),
});
const eventually = { timeout: 10_000, interval: 10 };

describe('neighbors when the VIPs change', () => {
  it('are asked again only where something was refused, keep their sessions, and lose what is none any more', async () => {
    const port = await freePort();
    const bgp = routerNeighbors(port, [masters]);
    const membership = new BgpMembership(bgp);
    const events: string[] = [];
    const note = (event: MembershipEvent): void => {
      if (event.type === 'announced') events.push(`${event.nextHop} announces ${event.vip}`);
      if (event.type === 'withdrawn') events.push(`${event.nextHop} without ${event.vip}: ${event.reason}`);
    };
    await membership.start((more) => more.forEach(note));
    const made = [
      new LoopbackMaster('10.0.0.11', port, [first, second]),
      new LoopbackMaster('10.0.0.12', port, [first]),
    ];
    const messages = (): unknown =>
      Object.fromEntries(
        bgp.peers().map(({ peer }) => {
          const { messages, establishedCount } = peer.status();
          return [peer.name, [messages.sent['ROUTE-REFRESH'], messages.sent.NOTIFICATION, establishedCount]];
        }),
      );
    try {
      await expect.poll(() => events.length, eventually).toBe(2);
      await expect
        .poll(() => bgp.peers().map(({ peer }) => peer.adjRibIn?.rejected.count), eventually)
        .toContain(1);
      events.length = 0;
      expect(bgp.configureImport(announced('10.100.0.1', '10.100.0.2'))).toEqual([]);
      await expect.poll(() => events, eventually).toEqual(['10.0.0.11 announces 10.100.0.2/32']);
      expect(messages()).toEqual({ '10.0.0.11': [1, 0, 1], '10.0.0.12': [0, 0, 1] });
      events.length = 0;
      expect(bgp.configureImport(announced('10.100.0.2'))).toEqual([]);
      expect(events.sort()).toEqual([
        '10.0.0.11 without 10.100.0.1/32: not a configured VIP: 10.100.0.1/32',
        '10.0.0.12 without 10.100.0.1/32: not a configured VIP: 10.100.0.1/32',
      ]);
      expect(messages()).toEqual({ '10.0.0.11': [1, 0, 1], '10.0.0.12': [0, 0, 1] });
      expect(membership.standing()).toEqual([
        {
          type: 'session',
          nextHop: '10.0.0.11',
          name: '10.0.0.11',
          session: { isLive: true, state: 'Established' },
        },
        {
          type: 'session',
          nextHop: '10.0.0.12',
          name: '10.0.0.12',
          session: { isLive: true, state: 'Established' },
        },
      ]);
    } finally {
      await membership.stop();
      await Promise.all(made.map((master) => master.die()));
    }
  });
});
