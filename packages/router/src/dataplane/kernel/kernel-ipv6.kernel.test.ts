import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DataPlaneProcess } from './testing/data-plane-process.ts';
import { LbNamespaces } from './testing/lb-namespaces.ts';

const VIP = 'fd00::100/128';

let lab: LbNamespaces;
let plane: DataPlaneProcess;

beforeEach(async () => {
  lab = new LbNamespaces(['m1', 'm2']);
  for (const [i, { name, namespace }] of lab.members.entries()) {
    lab.ip('addr', 'add', `fd00:${i + 1}::10/64`, 'dev', `to-${name}`, 'nodad');
    execFileSync('ip', ['-n', namespace, 'addr', 'add', `fd00:${i + 1}::11/64`, 'dev', 'eth0', 'nodad']);
  }
  plane = await DataPlaneProcess.in(lab.lb, {
    vips: [{ prefix: VIP, address: 'fd00::100', port: 6443 }],
  });
  await plane.start();
});

afterEach(async () => {
  await plane?.kill();
  lab?.remove();
});

function routes(): string[] {
  return lab
    .json('-6', 'route', 'show', 'table', 'main')
    .filter((route) => route.dst === 'fd00::100')
    .map((route) => `${route.type} ${route.metric}`);
}

it('forwards an IPv6 VIP by a resilient group, and falls back to the floor', async () => {
  expect(routes()).toEqual(['unreachable 4000000000']);
  await plane.setProbed(['fd00:1::11']);
  await plane.setNextHops(
    ['fd00:1::11', 'fd00:2::11'].map((nextHop) => ({ nextHop, weight: 256 })),
    VIP,
  );
  expect(routes().sort()).toEqual(['unicast 84', 'unreachable 4000000000']);
  const status = await plane.status();
  expect(status.problems).toEqual([]);
  expect(status.vips[0]?.members.map(({ buckets }) => buckets)).toEqual([512, 512]);
  expect(lab.ip('-6', 'rule', 'show')).toContain('fwmark 0x84001');
  await plane.setNextHops([], VIP);
  expect(routes()).toEqual(['unreachable 4000000000']);
});

it('forwards by link-local next hops on their links, and finds them again', async () => {
  const nextHops = ['fe80::11%to-m1', 'fe80::11%to-m2'];
  await plane.setProbed(nextHops);
  await plane.setNextHops(
    nextHops.map((nextHop) => ({ nextHop, weight: 256 })),
    VIP,
  );
  const gateways = lab
    .json('nexthop')
    .flatMap(({ gateway, dev }) => (gateway === undefined ? [] : [`${gateway} ${dev}`]));
  expect(gateways.sort()).toEqual(['fe80::11 to-m1', 'fe80::11 to-m2']);
  const { problems, vips } = await plane.status();
  expect(problems).toEqual([]);
  expect(vips[0]?.members.map(({ nextHop, buckets }) => [nextHop, buckets])).toEqual(
    nextHops.map((nextHop) => [nextHop, 512]),
  );
  // What is read back is what was made: nothing but the route that is missing is set.
  lab.ip('-6', 'route', 'del', VIP, 'metric', '84');
  const repair = await plane.event(({ event }) => event === 'repaired');
  expect(repair.text).toBe('set-route fd00::100/128 (group) table 254 metric 84');
});

it('finds its objects as they were made: a read-back changes nothing', async () => {
  await plane.setProbed(['fd00:1::11']);
  await plane.setNextHops([{ nextHop: 'fd00:1::11', weight: 256 }], VIP);
  // Something foreign, so that the kernel is looked at, and then something of ours to wait for.
  lab.ip('-6', 'route', 'add', 'fd00:99::/64', 'dev', 'to-m1');
  lab.ip('-6', 'route', 'del', VIP, 'metric', '84');
  const repair = await plane.event(({ event }) => event === 'repaired');
  expect(repair.text).toBe('set-route fd00::100/128 (group) table 254 metric 84');
});
