import { afterEach, describe, expect, it } from 'vitest';
import { freePort, LoopbackMaster, masters, routerNeighbors } from '../bgp/testing/loopback-bgp.ts';
import type { MasterNeighborConfig } from '../config/router-config.ts';
import { BgpMembership } from './bgp-membership.ts';
import type { MembershipEvent } from './membership-source.ts';
import { type SessionHarness, sessionConformance } from './testing/membership-conformance.ts';

const VIP = '10.100.0.1/32';

sessionConformance('BGP', async (): Promise<SessionHarness> => {
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
      void membership.start((more) => {
        events.push(...more);
        if (events.length > 1 && more.some((event) => event.type === 'announced' && event.vip === VIP)) {
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
    expect(events.filter((event) => event.type === 'announced' && event.nextHop === '10.0.0.11')).toEqual([]);
  });
});

describe('a master that announces far too much', () => {
  it('loses its session and its own route, and nobody else loses anything', async () => {
    const port = await freePort();
    const membership = new BgpMembership(routerNeighbors(port, [masters]));
    const events: MembershipEvent[] = [];
    const withdrawn = deferred();
    const announced = deferred();
    await membership.start((more) => {
      events.push(...more);
      if (more.some(({ type }) => type === 'withdrawn')) withdrawn.resolve();
      if (events.filter(({ type }) => type === 'announced').length === 2) announced.resolve();
    });
    const made = ['10.0.0.11', '10.0.0.12'].map((address) => new LoopbackMaster(address, port, [VIP]));
    try {
      await announced.promise;
      for (const third of [1, 2, 3]) made[0]?.announce(`203.0.113.${third}/32`);
      await withdrawn.promise;
      expect(events.filter(({ type }) => type === 'withdrawn')).toEqual([
        expect.objectContaining({
          nextHop: '10.0.0.11',
          reason: expect.stringContaining('Maximum Number of Prefixes Reached'),
        }),
      ]);
    } finally {
      await membership.stop();
      await Promise.all(made.map((master) => master.die()));
    }
  });
});

describe('a master with an address of its own for packets', () => {
  it('is known by that, and still followed by its session', async () => {
    const port = await freePort();
    const { range: _, ...single } = masters as MasterNeighborConfig;
    const neighbor = { ...single, address: '10.0.0.11', memberAddress: '10.9.0.11' };
    const membership = new BgpMembership(routerNeighbors(port, [neighbor]));
    const events: MembershipEvent[] = [];
    const announced = deferred();
    await membership.start((more) => {
      events.push(...more);
      if (more.some(({ type }) => type === 'announced')) announced.resolve();
    });
    const master = new LoopbackMaster('10.0.0.11', port, [VIP]);
    try {
      await announced.promise;
      membership.liveness.hostsDead({ addresses: ['10.0.0.11'], doubtful: new Set(), window: 900 });
      const hops = events.flatMap((event) =>
        event.type === 'lost'
          ? event.members.map(({ nextHop }) => nextHop)
          : 'nextHop' in event
            ? [event.nextHop]
            : [],
      );
      expect(events.map(({ type }) => type)).toContain('lost');
      expect(new Set(hops)).toEqual(new Set(['10.9.0.11']));
    } finally {
      await membership.stop();
      await master.die();
    }
  });
});

describe('a master whose host is dead', () => {
  const cleanUp: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const close of cleanUp.splice(0)) {
      await close();
    }
  });

  /** A source that has two masters which announce the VIP, and what it reported. */
  async function start(): Promise<{
    membership: BgpMembership;
    made: readonly LoopbackMaster[];
    until: (isIt: (event: MembershipEvent) => boolean, count?: number) => Promise<MembershipEvent[]>;
    events: MembershipEvent[];
  }> {
    const port = await freePort();
    const membership = new BgpMembership(routerNeighbors(port, [masters]));
    const events: MembershipEvent[] = [];
    let told: () => void = () => undefined;
    await membership.start((more) => {
      events.push(...more);
      told();
    });
    cleanUp.push(() => membership.stop());
    const until = async (
      isIt: (event: MembershipEvent) => boolean,
      count = 1,
    ): Promise<MembershipEvent[]> => {
      while (events.filter(isIt).length < count) {
        await new Promise<void>((resolve) => {
          told = resolve;
        });
      }
      return events.filter(isIt);
    };
    const made = ['10.0.0.11', '10.0.0.12'].map((address) => new LoopbackMaster(address, port, [VIP]));
    cleanUp.push(...made.map((master) => () => master.die()));
    await until(({ type }) => type === 'announced', 2);
    await until(({ type }) => type === 'complete', 2);
    return { membership, made, until, events };
  }

  it('is reported as lost, and not as withdrawn when its session is ended for that', async () => {
    const { membership, until, events } = await start();
    membership.liveness.hostsDead({
      addresses: ['10.0.0.11', '10.0.0.12', '10.9.9.9'],
      doubtful: new Set(['10.0.0.12']),
      window: 900,
    });
    expect(events.at(-1)?.type).not.toBe('withdrawn');
    expect(events.filter(({ type }) => type === 'lost')).toEqual([
      {
        type: 'lost',
        members: [
          { nextHop: '10.0.0.11', reason: 'BFD down', isDoubtful: false },
          { nextHop: '10.0.0.12', reason: 'BFD down', isDoubtful: true },
        ],
        window: 900,
      },
    ]);
    await until(({ type }) => type === 'announced', 4);
    expect(events.filter(({ type }) => type === 'withdrawn')).toEqual([]);
  });

  it('that says the same of us is lost together with the others that do', async () => {
    const { made, until, events } = await start();
    for (const master of made) {
      master.bfdDown();
    }
    const [first] = await until(({ type }) => type === 'lost');
    const [one, other] = events.filter(({ type }) => type === 'lost');
    const members = [one, other].flatMap((event) => (event?.type === 'lost' ? event.members : []));
    await until(({ type }) => type === 'announced', 4);
    expect(first?.type).toBe('lost');
    expect(members.length).toBeGreaterThan(0);
    expect(members[0]?.reason).toBe('its speaker says that BFD is down');
    expect(events.filter(({ type }) => type === 'withdrawn')).toEqual([]);
  });

  it('that says so and is back at once is lost before it is announced again, never after', async () => {
    const { made, until, events } = await start();
    made[0]?.bfdDown();
    await until(({ type }) => type === 'announced', 3);
    // Longer than a verdict waits.
    await new Promise((resolve) => setTimeout(resolve, 100));
    const order = events.flatMap((event) => {
      if (event.type === 'lost') return event.members.map(({ nextHop }) => `lost ${nextHop}`);
      return event.type === 'announced' ? [`announced ${event.nextHop}`] : [];
    });
    expect(order.slice(2)).toEqual(['lost 10.0.0.11', 'announced 10.0.0.11']);
  });

  it('that must have BFD is waited for', async () => {
    const { membership, events } = await start();
    membership.liveness.bfdRequired('10.0.0.11', false);
    membership.liveness.bfdRequired('10.0.0.11', true);
    const barrier = { type: 'barrier', nextHop: '10.0.0.11', barrier: 'bfd' };
    expect(events.slice(-2)).toEqual([
      { ...barrier, reason: 'BFD is not Up (strict)' },
      { ...barrier, reason: undefined },
    ]);
  });
});

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}
