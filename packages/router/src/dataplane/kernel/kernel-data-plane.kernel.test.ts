import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WeightedNextHop } from '../../pool/member-view.ts';
import { DataPlaneProcess, VIP } from './testing/data-plane-process.ts';
import { LbNamespaces } from './testing/lb-namespaces.ts';

let lab: LbNamespaces;
let plane: DataPlaneProcess;

beforeEach(async () => {
  lab = new LbNamespaces(['m1', 'm2', 'm3']);
  plane = await DataPlaneProcess.in(lab.lb);
});

afterEach(async () => {
  await plane?.kill();
  lab?.remove();
});

function members(...names: string[]): WeightedNextHop[] {
  return names.map((name) => ({ nextHop: lab.member(name).address, weight: 256 }));
}

/** Names of the members that the kernel's buckets point to, bucket by bucket. */
function buckets(): string[] {
  const gateways = new Map(lab.json('nexthop').map((nexthop) => [nexthop.id, nexthop.gateway]));
  return lab
    .json('nexthop', 'bucket', 'show')
    .sort((a, b) => a.bucket.index - b.bucket.index)
    .map((entry) => {
      const gateway = gateways.get(entry.bucket.nhid);
      return lab.members.find(({ address }) => address === gateway)?.name ?? `unknown ${entry.bucket.nhid}`;
    });
}

function vipRoutes(): string[] {
  return lab
    .json('route', 'show', 'table', 'main')
    .filter((route) => route.dst === '10.100.0.1')
    .map((route) => `${route.type} ${route.metric} ${route.protocol}`);
}

describe('the kernel data plane', () => {
  it('stands an unreachable route for the VIP before anybody is in the pool', async () => {
    await plane.start();
    expect(vipRoutes()).toEqual(['unreachable 4000000000 84']);
    expect(() => lab.ip('route', 'get', '10.100.0.1')).toThrow('No route to host');
  });

  it('forwards to all members by one resilient group', async () => {
    await plane.start();
    await plane.setNextHops(members('m1', 'm2', 'm3'));
    expect(vipRoutes()).toContain('unicast 84 84');
    const [group] = lab.json('nexthop').filter((nexthop) => nexthop.group !== undefined);
    expect(group).toMatchObject({ type: 'resilient', protocol: '84' });
    expect(group.resilient_args).toMatchObject({ buckets: 1024, idle_timer: 120, unbalanced_timer: 0 });
    expect(new Set(buckets())).toEqual(new Set(['m1', 'm2', 'm3']));
  });

  it('moves only the buckets of a member that leaves, and none of the others when it returns', async () => {
    await plane.start();
    await plane.setNextHops(members('m1', 'm2', 'm3'));
    const before = buckets();
    await plane.setNextHops(members('m1', 'm3'));
    const without = buckets();
    for (const [i, owner] of before.entries()) {
      expect(without[i] === owner || owner === 'm2').toBe(true);
    }
    expect(without).not.toContain('m2');
    // Buckets that have not carried a packet are idle, and only those may go to the member that returns.
    await plane.setNextHops(members('m1', 'm2', 'm3'));
    expect(buckets().filter((owner, i) => owner !== 'm2' && owner !== without[i])).toEqual([]);
  });

  it('goes back to the unreachable route when the pool is empty', async () => {
    await plane.start();
    await plane.setNextHops(members('m1'));
    await plane.setNextHops([]);
    expect(vipRoutes()).toEqual(['unreachable 4000000000 84']);
    expect(lab.json('nexthop')).toEqual([]);
  });

  it('takes the share from a member with weight 1 without moving a bucket in use', async () => {
    await plane.start();
    await plane.setNextHops(members('m1', 'm2'));
    const [first, second] = members('m1', 'm2');
    await plane.setNextHops([
      { nextHop: first?.nextHop ?? '', weight: 1 },
      second ?? { nextHop: '', weight: 0 },
    ]);
    const [group] = lab.json('nexthop').filter((nexthop) => nexthop.group !== undefined);
    expect(group.group.map((member: { weight?: number }) => member.weight ?? 1).sort()).toEqual([1, 256]);
  });

  it('reports what it forwards to, in the kernel’s own numbers', async () => {
    await plane.start();
    await plane.setNextHops(members('m1', 'm2'));
    const [vip] = (await plane.status()).vips;
    expect(vip).toMatchObject({ vip: VIP, forwarding: true });
    expect(vip?.members.map((member) => [member.interfaceName, member.problem])).toEqual([
      ['to-m1', ''],
      ['to-m2', ''],
    ]);
    expect(vip?.members.reduce((sum, member) => sum + (member.buckets ?? 0), 0)).toBe(1024);
  });

  it('refuses a next hop that is not on a connected network and carries the others', async () => {
    await plane.start();
    lab.ip('route', 'add', '192.0.2.0/24', 'via', lab.member('m1').address);
    await plane.setNextHops([{ nextHop: '192.0.2.1', weight: 256 }, ...members('m2')]);
    const [vip] = (await plane.status()).vips;
    expect(vip?.members[0]?.problem).toContain('192.0.2.1 is not on link');
    expect(new Set(buckets())).toEqual(new Set(['m2']));
  });

  it('sets what forwarding needs and leaves what is well', async () => {
    await plane.start();
    await plane.setProbed([lab.member('m1').address]);
    const sysctl = (name: string): string => lab.exec('sysctl', '-n', name).trim();
    expect(sysctl('net.ipv4.ip_forward')).toBe('1');
    expect(sysctl('net.ipv4.fib_multipath_hash_policy')).toBe('1');
    expect(sysctl('net.ipv4.conf.to-m1.src_valid_mark')).toBe('1');
    expect(sysctl('net.ipv4.conf.to-m1.send_redirects')).toBe('0');
  });
});
