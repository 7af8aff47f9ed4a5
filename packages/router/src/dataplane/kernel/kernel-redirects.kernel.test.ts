/** A client on the members' own link is not told to go past the load balancer, seen by its packets. */
import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataPlaneProcess } from './testing/data-plane-process.ts';
import { LbNamespaces } from './testing/lb-namespaces.ts';
import { VipServers } from './testing/vip-servers.ts';

const IPV4 = { prefix: '10.100.0.1/32', address: '10.100.0.1', port: 6443 };
const IPV6 = { prefix: 'fd00::100/128', address: 'fd00::100', port: 6443 };
const CONNECTIONS = 20;

let lab: LbNamespaces;
let plane: DataPlaneProcess;
let servers: VipServers;

/** Runs a program where the client is, or where m1 is. */
function at(member: string, ...command: string[]): string {
  const argv = ['netns', 'exec', lab.member(member).namespace, ...command];
  return execFileSync('ip', argv, { encoding: 'utf8' });
}

beforeEach(async () => {
  lab = new LbNamespaces(['client', 'm1']);
  servers = new VipServers(lab);
  // One link for all of them: a bridge, and the load balancer on it.
  lab.ip('link', 'add', 'br0', 'type', 'bridge');
  for (const [i, { name, namespace }] of lab.members.entries()) {
    lab.ip('addr', 'flush', 'dev', `to-${name}`);
    lab.ip('link', 'set', `to-${name}`, 'master', 'br0');
    const ip = (...argv: string[]): void => void execFileSync('ip', ['-n', namespace, ...argv]);
    ip('addr', 'flush', 'dev', 'eth0');
    ip('addr', 'add', `10.0.9.${i + 11}/24`, 'dev', 'eth0');
    ip('addr', 'add', `fd00:9::${i + 11}/64`, 'dev', 'eth0', 'nodad');
    ip('addr', 'add', `fe80::${i + 11}/64`, 'dev', 'eth0', 'nodad');
    if (name === 'client') ip('addr', 'del', IPV4.prefix, 'dev', 'lo');
    else ip('addr', 'add', IPV6.prefix, 'dev', 'lo', 'nodad');
  }
  lab.ip('addr', 'add', '10.0.9.10/24', 'dev', 'br0');
  lab.ip('addr', 'add', 'fd00:9::10/64', 'dev', 'br0', 'nodad');
  lab.ip('addr', 'add', 'fe80::10/64', 'dev', 'br0', 'nodad');
  lab.ip('link', 'set', 'br0', 'up');
  // As a host has it whose settings are its operator's: IPv6 has no setting that keeps redirects back.
  lab.exec('sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1');
  lab.exec('sysctl', '-qw', 'net.ipv4.conf.all.send_redirects=1', 'net.ipv4.conf.br0.send_redirects=1');
  at('client', 'ip', 'route', 'add', IPV4.prefix, 'via', '10.0.9.10');
  at('client', 'ip', '-6', 'route', 'add', IPV6.prefix, 'via', 'fe80::10', 'dev', 'eth0');
  at(
    'client',
    'nft',
    `table inet seen { chain in { type filter hook input priority 0; icmp type redirect counter; icmpv6 type nd-redirect counter; }; }`,
  );
  // m1 answers on its lo alone; nothing of the link asks it for the VIP.
  at('m1', 'sysctl', '-qw', 'net.ipv4.conf.all.arp_ignore=1');
  await servers.serve('m1', 'm1');
  plane = await DataPlaneProcess.in(lab.lb, { vips: [IPV4, IPV6], manageSysctls: false });
  await plane.start();
});

afterEach(async () => {
  servers?.close();
  await plane?.kill();
  lab?.remove();
});

/** Redirects that the client has received. */
function redirects(): number {
  const listed = at('client', 'nft', 'list', 'table', 'inet', 'seen');
  return [...listed.matchAll(/packets (\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
}

describe.each([
  ['IPv4', IPV4, '10.0.9.12'],
  ['IPv6', IPV6, 'fe80::12%br0'],
] as const)('a client on the link of the members: %s', (_, vip, member) => {
  it('gets no redirect for a VIP, and every connection of it passes here; without our table it would get one', async () => {
    await plane.setNextHops([{ nextHop: member, weight: 256 }], vip.prefix);
    expect(await servers.connectMany('client', vip.address, CONNECTIONS)).toBe(CONNECTIONS);
    const { sent } = await plane.clientCounts();
    expect(sent.map(({ packets }) => packets)).toEqual([CONNECTIONS]);
    expect(redirects()).toBe(0);
    // The kernel forwards on without the router, and nothing puts the rules back.
    await plane.kill();
    lab.exec('nft', 'flush', 'chain', 'inet', 'bgp_lb_router', 'redirects');
    // The kernel limits how many it sends to a host, those that were dropped among them.
    const afterMore = async (): Promise<number> => {
      await servers.connectMany('client', vip.address, 1);
      return redirects();
    };
    await expect.poll(afterMore, { timeout: 30_000, interval: 500 }).toBeGreaterThan(0);
  });
});
