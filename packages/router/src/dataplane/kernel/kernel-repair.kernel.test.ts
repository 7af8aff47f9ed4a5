import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WeightedNextHop } from '../../pool/member-view.ts';
import { DataPlaneProcess, VIP } from './testing/data-plane-process.ts';
import { LbNamespaces } from './testing/lb-namespaces.ts';

let lab: LbNamespaces;
let plane: DataPlaneProcess;

beforeEach(async () => {
  lab = new LbNamespaces(['m1', 'm2']);
  plane = await DataPlaneProcess.in(lab.lb);
  await plane.start();
  await plane.setNextHops(members('m1', 'm2'));
});

afterEach(async () => {
  await plane?.kill();
  lab?.remove();
});

function members(...names: string[]): WeightedNextHop[] {
  return names.map((name) => ({ nextHop: lab.member(name).address, weight: 256 }));
}

/** What the kernel forwards the VIP to: gateways of the group that the VIP's route leads to. */
function forwarding(): string[] {
  const nexthops = new Map(lab.json('nexthop').map((nexthop) => [nexthop.id, nexthop]));
  const route = lab.json('route', 'show', VIP).find((candidate) => candidate.nhid !== undefined);
  const group = route === undefined ? undefined : nexthops.get(route.nhid);
  const gateways = (group?.group ?? []).map((member: { id: number }) => nexthops.get(member.id)?.gateway);
  // Each once: a member that was alone has a twin.
  return [...new Set<string>(gateways)].sort();
}

function repaired(text: string): Promise<unknown> {
  return plane.event((event) => event.event === 'repaired' && event.text.includes(text));
}

const both = ['10.0.1.11', '10.0.2.11'];

describe('repair', () => {
  it('puts back a route that somebody deleted', async () => {
    lab.ip('route', 'del', VIP, 'metric', '84');
    await repaired('set-route 10.100.0.1/32 (group)');
    expect(forwarding()).toEqual(both);
  });

  it('puts back the floor that somebody deleted', async () => {
    lab.ip('route', 'del', 'unreachable', VIP, 'metric', '4000000000');
    await repaired('set-route 10.100.0.1/32 (unreachable)');
    expect(lab.ip('route', 'show', VIP)).toContain('unreachable');
  });

  it('puts back a group that somebody deleted, and the route that went with it', async () => {
    const group = lab.json('nexthop').find((nexthop) => nexthop.group !== undefined);
    lab.ip('nexthop', 'del', 'id', String(group?.id));
    await repaired('set-group');
    expect(forwarding()).toEqual(both);
  });

  it('puts back a next hop that somebody deleted, and its place in the group', async () => {
    const member = lab.json('nexthop').find((nexthop) => nexthop.gateway === '10.0.1.11');
    lab.ip('nexthop', 'del', 'id', String(member?.id));
    await repaired('set-nexthop');
    expect(forwarding()).toEqual(both);
  });

  it('puts back the nft table', async () => {
    lab.exec('nft', 'delete', 'table', 'inet', 'bgp_lb_router');
    await repaired('nft table inet bgp_lb_router made');
    expect(lab.exec('nft', 'list', 'tables')).toContain('table inet bgp_lb_router');
  });

  it('puts back a rule and a table of the health probes', async () => {
    await plane.setProbed(['10.0.1.11']);
    lab.ip('rule', 'del', 'fwmark', '0x84001');
    await repaired('add-rule');
    lab.ip('route', 'flush', 'table', String(0x84001));
    await repaired(`set-route 10.100.0.1/32 (gateway) table ${0x84001}`);
    expect(await plane.probe('10.0.1.11')).toBe('ECONNREFUSED');
  });

  it('touches nothing that belongs to others', async () => {
    lab.ip('nexthop', 'add', 'id', '7', 'via', '10.0.1.11', 'dev', 'to-m1');
    lab.ip('route', 'add', '203.0.113.0/24', 'nhid', '7');
    lab.ip('route', 'add', '198.51.100.0/24', 'via', '10.0.2.11', 'proto', 'static');
    // The speaker's, on a host that is both.
    lab.ip('route', 'add', '10.100.0.1', 'via', '10.0.2.11', 'proto', '84', 'metric', '8400');
    lab.ip('rule', 'add', 'fwmark', '7', 'lookup', '77', 'priority', '84');
    lab.exec('nft', 'add', 'table', 'inet', 'others');
    const foreign = (): string[] => [
      lab.ip('nexthop', 'show', 'id', '7'),
      lab.ip('route', 'show', '203.0.113.0/24'),
      lab.ip('route', 'show', '198.51.100.0/24'),
      lab.ip('route', 'show', '10.100.0.1', 'metric', '8400'),
      lab.ip('rule', 'show', 'fwmark', '7'),
      lab.exec('nft', 'list', 'table', 'inet', 'others'),
    ];
    const before = foreign();
    await plane.setNextHops([]);
    await plane.setNextHops(members('m2'));
    lab.exec('nft', 'delete', 'table', 'inet', 'bgp_lb_router');
    await repaired('nft table inet bgp_lb_router made');
    expect(foreign()).toEqual(before);
    expect(before[3]).toContain('10.100.0.1 via 10.0.2.11');
  });
});

describe('carrier loss', () => {
  it('takes one member out of the kernel and brings it back with the link, without a gap for the other', async () => {
    lab.setCarrier('m1', 'down');
    await plane.event((event) => event.event === 'forwarding' && event.text === `${VIP} 10.0.2.11`);
    expect(forwarding()).toEqual(['10.0.2.11']);
    await plane.event(({ event, text }) => event === 'link' && text === '10.0.1.11: no carrier on to-m1');
    const seen = plane.events.length;
    lab.setCarrier('m1', 'up');
    await plane.event(
      (event) => plane.events.indexOf(event) >= seen && event.text === `${VIP} ${both.join(' ')}`,
    );
    expect(forwarding()).toEqual(both);
    const states = plane.events.filter(({ event }) => event === 'forwarding').map(({ text }) => text);
    // Up, one out, up again: no other state in between.
    await plane.event(({ event, text }) => event === 'link' && text === '10.0.1.11: there');
    expect(states).toEqual([`${VIP} ${both.join(' ')}`, `${VIP} 10.0.2.11`, `${VIP} ${both.join(' ')}`]);
  });

  it('leaves the unreachable route when all links are down, and forwards again when they are up', async () => {
    lab.setCarrier('m1', 'down');
    lab.setCarrier('m2', 'down');
    await plane.event((event) => event.event === 'forwarding' && event.text === `${VIP} `);
    expect(lab.ip('route', 'show', VIP)).toContain('unreachable');
    const seen = plane.events.length;
    lab.setCarrier('m1', 'up');
    lab.setCarrier('m2', 'up');
    await plane.event(
      (event) => plane.events.indexOf(event) >= seen && event.text === `${VIP} ${both.join(' ')}`,
    );
    expect(forwarding()).toEqual(both);
  });
});

describe('a restart', () => {
  it('finds what the killed process left, with the same ids and buckets, and has no gap', async () => {
    const ids = lab.json('nexthop').map(({ id }) => id);
    const buckets = lab.ip('nexthop', 'bucket', 'show').replaceAll(/idle_time \S+/g, '');
    await plane.kill();
    expect(forwarding()).toEqual(both);
    plane = await DataPlaneProcess.in(lab.lb);
    expect(await plane.start()).toEqual({
      [VIP]: [
        { nextHop: '10.0.1.11', weight: 256 },
        { nextHop: '10.0.2.11', weight: 256 },
      ],
    });
    expect(lab.json('nexthop').map(({ id }) => id)).toEqual(ids);
    await plane.setNextHops(members('m2', 'm1'));
    expect(lab.ip('nexthop', 'bucket', 'show').replaceAll(/idle_time \S+/g, '')).toBe(buckets);
  });

  it('adopts a group whose route was removed meanwhile', async () => {
    await plane.stop();
    lab.ip('route', 'del', VIP, 'metric', '84');
    await plane.kill();
    plane = await DataPlaneProcess.in(lab.lb);
    expect(Object.values(await plane.start()).flat()).toHaveLength(2);
    expect(forwarding()).toEqual(both);
  });

  it('stops without taking anything away', async () => {
    await plane.stop();
    expect(forwarding()).toEqual(both);
    expect(lab.exec('nft', 'list', 'tables')).toContain('bgp_lb_router');
  });
});

describe('what is not ours to repair', () => {
  async function problems(): Promise<string> {
    return (await plane.status()).problems.join('\n');
  }

  async function untilProblem(text: string): Promise<void> {
    for (let i = 0; i < 100 && !(await problems()).includes(text); i++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(await problems()).toContain(text);
  }

  it('is said when this host has the VIP itself', async () => {
    expect(await problems()).toBe('');
    lab.ip('addr', 'add', VIP, 'dev', 'lo');
    await untilProblem('10.100.0.1 is an address of this host');
  });

  it('is said when a rule leads the VIP to another table', async () => {
    lab.ip('route', 'add', VIP, 'via', '10.0.1.11', 'table', '77');
    lab.ip('rule', 'add', 'to', VIP, 'lookup', '77', 'priority', '50');
    await untilProblem('10.100.0.1 is routed by table 77');
  });
});
