/** Netlink queues that run over while the data plane waits for an answer or for news: the kernel ends as wanted all the same. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WeightedNextHop } from '../../pool/member-view.ts';
import { DataPlaneProcess, VIP } from './testing/data-plane-process.ts';
import { LbNamespaces } from './testing/lb-namespaces.ts';

const both = ['10.0.1.11', '10.0.2.11'];
/** Not on its own within a test: what is repaired is repaired for another reason. */
const never = 3_600_000;

let lab: LbNamespaces;
let plane: DataPlaneProcess;

beforeAll(async () => {
  lab = new LbNamespaces(['m1', 'm2']);
  plane = await DataPlaneProcess.in(lab.lb, { repairInterval: never });
  await plane.start();
});
beforeEach(async () => {
  await plane.setNextHops(members(...both));
  await plane.setProbed(both);
});
afterAll(async () => {
  await plane?.kill();
  lab?.remove();
});

function members(...addresses: string[]): WeightedNextHop[] {
  return addresses.map((nextHop) => ({ nextHop, weight: 256 }));
}

/** Gateways and types of the groups that routes to the VIP lead to. */
function carried(): { readonly gateways: readonly string[]; readonly types: readonly string[] } {
  const nexthops = new Map(lab.json('nexthop').map((nexthop) => [nexthop.id, nexthop]));
  const groups = lab
    .json('route', 'show', VIP)
    .flatMap(({ nhid }) => (nhid === undefined ? [] : [nexthops.get(nhid)]));
  const ids: number[] = groups.flatMap(({ group }) => group.map(({ id }: { id: number }) => id));
  return {
    gateways: [...new Set(ids.map((id) => nexthops.get(id)?.gateway))].sort(),
    types: groups.map(({ type }) => type),
  };
}

let floods = 0;

/** Makes and takes away what others have, in commands of ip(8): more news than a queue holds that was made small. */
function flood(): readonly string[] {
  const subnet = ++floods;
  const each = (command: (n: number) => string): string[] =>
    Array.from({ length: 200 }, (_, n) => command(n));
  return [
    ...each((n) => `route add unreachable 10.20${subnet}.0.${n}/32`),
    ...each((n) => `neigh add 10.0.1.${n + 20} lladdr 02:00:00:00:00:${n.toString(16)} dev to-m1`),
    ...each((n) => `neigh del 10.0.1.${n + 20} dev to-m1`),
  ];
}

describe('a request whose acknowledgement is lost in a flood', () => {
  it.each([
    ['takes a member out', both, ['10.0.2.11']],
    ['takes a member in', ['10.0.2.11'], both],
    ['takes all out', both, []],
    ['takes the first in', [], ['10.0.1.11']],
  ])('%s all the same, before the call returns', async (_, before, after) => {
    await plane.setNextHops(members(...before));
    const seen = plane.events.length;
    expect(plane.crowd('requests')).toBe(1);
    await plane.setNextHopsInFlood(flood(), members(...after));
    const types = after.length === 0 ? [] : ['resilient'];
    expect(carried()).toEqual({ gateways: after, types });
    const status = await plane.status();
    expect(status.problems).toEqual([]);
    expect(status.vips[0]?.members.map(({ nextHop, problem }) => [nextHop, problem])).toEqual(
      after.map((nextHop) => [nextHop, '']),
    );
    const events = plane.events.slice(seen);
    // It was lost: the test would show nothing otherwise.
    expect(events.filter(({ event, text }) => event === 'refused' && text.includes('ENOBUFS'))).toHaveLength(
      1,
    );
    // Nothing was told of a state in between, or of a member without a way.
    expect(events.filter(({ event }) => ['forwarding', 'link', 'failing'].includes(event))).toEqual([
      { event: 'forwarding', text: `${VIP} ${after.join(' ')}` },
    ]);
  });
});

describe('a question whose answer is lost in a flood', () => {
  it('takes nobody out, and is asked again', async () => {
    expect(plane.crowd('requests')).toBe(1);
    lab.batch(flood());
    const seen = plane.events.length;
    // Our route is taken away: what is there is read, and the first answer is lost.
    lab.ip('route', 'del', VIP, 'metric', '84');
    await plane.event(
      (event) =>
        plane.events.indexOf(event) >= seen && event.text.includes('set-route 10.100.0.1/32 (group)'),
    );
    expect(carried().gateways).toEqual(both);
    expect((await plane.status()).problems).toEqual([]);
    const after = plane.events.slice(seen).filter(({ event }) => event === 'link');
    expect(after).toEqual([]);
  });
});

describe('news that are lost in a flood', () => {
  it('are made up for by a look at everything', async () => {
    const seen = plane.events.length;
    expect(plane.crowd('notifications')).toBe(1);
    plane.pause();
    try {
      lab.batch(flood());
      // The queue is full since long: of these the router is told nothing.
      lab.ip('route', 'del', VIP, 'metric', '84');
      const rule = lab.json('rule').find(({ fwmark }) => fwmark === '0x84001');
      expect(rule).toBeDefined();
      lab.ip('rule', 'del', 'fwmark', '0x84001');
    } finally {
      plane.resume();
    }
    const repaired = await plane.event(
      (event) => plane.events.indexOf(event) >= seen && event.event === 'repaired',
    );
    expect(repaired.text).toContain('set-route 10.100.0.1/32 (group)');
    expect(repaired.text).toContain('add-rule');
    expect(carried()).toEqual({ gateways: both, types: ['resilient'] });
  });
});
