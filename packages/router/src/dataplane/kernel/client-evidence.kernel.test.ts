import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClientCount } from '../../evidence/client-counts.ts';
import { DataPlaneProcess } from './testing/data-plane-process.ts';
import { LbNamespaces } from './testing/lb-namespaces.ts';
import { VipServers } from './testing/vip-servers.ts';

const IPV4 = { prefix: '10.100.0.1/32', address: '10.100.0.1', port: 6443 };
const IPV6 = { prefix: 'fd00::100/128', address: 'fd00::100', port: 6443 };
const CONNECTIONS = 60;

let lab: LbNamespaces;
let plane: DataPlaneProcess;
let servers: VipServers;

beforeEach(async () => {
  lab = new LbNamespaces(['client', 'm1', 'm2']);
  servers = new VipServers(lab);
  lab.exec('sysctl', '-qw', 'net.ipv6.conf.all.forwarding=1');
  for (const [i, { name, namespace }] of lab.members.entries()) {
    const ip = (...argv: string[]): void => void execFileSync('ip', ['-n', namespace, ...argv]);
    lab.ip('addr', 'add', `fd00:${i + 1}::10/64`, 'dev', `to-${name}`, 'nodad');
    lab.ip('addr', 'add', 'fe80::10/64', 'dev', `to-${name}`, 'nodad');
    ip('addr', 'add', `fd00:${i + 1}::11/64`, 'dev', 'eth0', 'nodad');
    ip('addr', 'add', 'fe80::11/64', 'dev', 'eth0', 'nodad');
    ip('route', 'add', 'default', 'via', `fd00:${i + 1}::10`);
    if (name === 'client') ip('addr', 'del', '10.100.0.1/32', 'dev', 'lo');
    else ip('addr', 'add', IPV6.prefix, 'dev', 'lo', 'nodad');
  }
  await servers.serve('m1', 'm1');
  await servers.serve('m2', 'm2');
  plane = await DataPlaneProcess.in(lab.lb, { vips: [IPV4, IPV6] });
  await plane.start();
});

afterEach(async () => {
  servers?.close();
  await plane?.kill();
  lab?.remove();
});

/** A firewall in a namespace: rules of nft. */
function filter(namespace: string, hook: string, rule: string): void {
  const table = `table inet t { chain c { type filter hook ${hook} priority 0; ${rule}; }; }`;
  execFileSync('ip', ['netns', 'exec', namespace, 'nft', table]);
}

const total = (counts: readonly ClientCount[], nextHop?: string): number =>
  counts
    .filter((count) => nextHop === undefined || count.nextHop === nextHop)
    .reduce((sum, { packets }) => sum + packets, 0);

describe.each([
  ['IPv4', IPV4, ['10.0.2.11', '10.0.3.11']],
  ['IPv6', IPV6, ['fd00:2::11', 'fd00:3::11']],
  ['IPv6 by link-local next hops', IPV6, ['fe80::11%to-m1', 'fe80::11%to-m2']],
] as const)('what clients send to a VIP: %s', (_, vip, members) => {
  beforeEach(async () => {
    const nextHops = members.map((nextHop) => ({ nextHop, weight: 256 }));
    await plane.setNextHops(nextHops, vip.prefix);
  });

  it('is counted on its way to each member, and what the member has answered', async () => {
    expect(await servers.connectMany('client', vip.address, CONNECTIONS)).toBe(CONNECTIONS);
    const { arrived, sent, followed, established } = await plane.clientCounts();
    expect(arrived).toEqual([{ vip: vip.address, uplink: 'to-client', packets: CONNECTIONS }]);
    expect(sent.map(({ uplink, nextHop }) => `${uplink} ${nextHop}`).sort()).toEqual(
      members.map((member) => `to-client ${member}`),
    );
    expect([total(sent), total(followed)]).toEqual([CONNECTIONS, CONNECTIONS]);
    for (const member of members) {
      expect(total(sent, member)).toBeGreaterThan(0);
      // Two ACKs of one connection that pass at the same time, on two processors, both count.
      expect(total(established, member)).toBeGreaterThanOrEqual(total(sent, member));
    }
  });

  it('is seen not to be answered by a member whose answers are lost, and by no other', async () => {
    const [good, bad] = members;
    const source = vip === IPV4 ? 'ip saddr' : 'ip6 saddr';
    filter(lab.member('m2').namespace, 'output', `${source} ${vip.address} drop`);
    await servers.connectMany('client', vip.address, CONNECTIONS);
    const { followed, established } = await plane.clientCounts();
    expect(total(followed)).toBe(CONNECTIONS);
    expect(total(followed, bad)).toBeGreaterThan(0);
    expect(total(established, bad)).toBe(0);
    expect(total(established, good)).toBeGreaterThanOrEqual(total(followed, good));
  });

  it('is seen to be dropped on this host by a firewall, and by routing', async () => {
    filter(lab.lb, 'forward', 'tcp dport 6443 drop');
    await servers.connectMany('client', vip.address, 10);
    const dropped = await plane.clientCounts();
    expect(total(dropped.arrived)).toBeGreaterThanOrEqual(10);
    expect(total(dropped.sent)).toBe(0);
    lab.exec('nft', 'delete', 'table', 'inet', 't');
    const family = vip === IPV4 ? '-4' : '-6';
    lab.ip(family, 'rule', 'add', 'iif', 'to-client', 'pref', '100', 'blackhole');
    await servers.connectMany('client', vip.address, 10);
    const misrouted = await plane.clientCounts();
    expect(total(misrouted.arrived)).toBeGreaterThanOrEqual(20);
    expect(total(misrouted.sent)).toBe(0);
  });
});

it('leaves out what this host sends itself: health probes', async () => {
  await plane.setProbed(['10.0.2.11']);
  await plane.setNextHops([{ nextHop: '10.0.2.11', weight: 256 }]);
  expect(await plane.probe('10.0.2.11')).toBe('m1');
  expect(await plane.clientCounts()).toEqual({ arrived: [], sent: [], followed: [], established: [] });
});

it('outlives changes of the members, and its table is made again when somebody removes it', async () => {
  await plane.setNextHops([{ nextHop: '10.0.2.11', weight: 256 }]);
  await servers.connectMany('client', IPV4.address, 5);
  await plane.setNextHops([{ nextHop: '10.0.3.11', weight: 256 }]);
  await servers.connectMany('client', IPV4.address, 5);
  const { established } = await plane.clientCounts();
  expect(total(established, '10.0.2.11')).toBeGreaterThanOrEqual(5);
  expect(total(established, '10.0.3.11')).toBeGreaterThanOrEqual(5);
  lab.exec('nft', 'delete', 'table', 'ip', 'bgp_lb_evidence');
  await plane.event(({ text }) => text.includes('bgp_lb_evidence'));
  await servers.connectMany('client', IPV4.address, 5);
  expect(total((await plane.clientCounts()).established)).toBeGreaterThanOrEqual(5);
});
