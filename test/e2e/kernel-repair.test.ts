import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { addresses, brokenAt, heal, others, startCluster } from '../kit/cluster.ts';
import { eventsSince, lastEvent, member, waitForEvent } from '../kit/router-view.ts';

const connections = 60;
const vip = `${vipAddress}/32`;

/** A nexthop object as `ip -json nexthop` has it. */
interface Nexthop {
  readonly id: number;
  readonly gateway?: string;
  readonly protocol?: string | number;
  readonly group?: readonly { readonly id: number }[];
}

interface KernelRoute {
  readonly nexthops?: readonly { readonly gateway: string }[];
}

describe('what somebody changes in the kernel', () => {
  let lab: Lab;
  let master: MasterHost;
  beforeAll(async () => {
    lab = await startCluster({ masters: 3, controlPlane: 'stand-in', machinePort: 6444 });
    master = lab.master(2);
  });
  afterAll(async () => {
    await lab.destroy();
  });
  beforeEach(async () => {
    await heal(lab);
    await lab.client.closeAll();
    expect(await lab.client.open(connections, { exchangeEvery: 200 })).toMatchObject({ opened: connections });
  });

  const lb = (...argv: string[]): Promise<string> => lab.lb.exec(argv);
  const nexthops = (): Promise<Nexthop[]> => lab.lb.ipJson<Nexthop[]>('nexthop', 'show', 'protocol', '84');
  const groupId = async (): Promise<string> => {
    const group = (await nexthops()).find((nexthop) => nexthop.group !== undefined);
    return String(group?.id);
  };
  const idOf = async ({ address }: MasterHost): Promise<string> =>
    String((await nexthops()).find(({ gateway }) => gateway === address)?.id);

  /** Our routes, rules and next hops on the LB, without what may differ: order, and ids, which name things. */
  async function lbState(): Promise<unknown> {
    const [routes, rules, hops] = await Promise.all([
      lab.lb.ipJson<KernelRoute[]>('route', 'show', 'table', 'all', 'proto', '84'),
      lab.lb.ipJson<KernelRoute[]>('rule', 'show'),
      nexthops(),
    ]);
    const texts = (objects: readonly KernelRoute[]): string[] =>
      objects
        .map((object) => ({
          ...object,
          // Each once: a member that was alone has a twin.
          nexthops: object.nexthops && [...new Set(object.nexthops.map(({ gateway }) => gateway))].sort(),
        }))
        .map((object) => JSON.stringify(object).replaceAll(/"nhid":\d+/g, ''))
        .sort();
    return {
      routes: texts(routes),
      rules: texts(rules),
      gateways: [...new Set(hops.flatMap(({ gateway }) => gateway ?? []))].sort(),
    };
  }
  const nftTable = (): Promise<string> =>
    lb('nft', '-s', 'list', 'table', 'inet', 'bgp_lb_router').catch(() => 'gone');

  it.each<[string, () => Promise<unknown>]>([
    ['the route', () => lb('ip', 'route', 'delete', vip, 'metric', '84')],
    ['the floor', () => lb('ip', 'route', 'delete', 'unreachable', vip, 'metric', '4000000000')],
    ['a rule', () => lb('ip', 'rule', 'delete', 'priority', '84')],
  ])('is put right on the LB at once, and no connection breaks: %s', async (_what, remove) => {
    const before = await lbState();
    const since = await lastEvent(lab);
    await remove();
    await waitForEvent(lab, since, 'repaired', ({ type }) => type === 'repaired', 2_000);
    await expect.poll(lbState, { timeout: 2_000, interval: 20 }).toEqual(before);
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
    expect(await lab.client.request()).toMatchObject({ ok: true });
  });

  it('is put right on the LB at once when it is the group, though with it goes which connection was whose', async () => {
    const before = await lbState();
    const since = await lastEvent(lab);
    await lb('ip', 'nexthop', 'delete', 'id', await groupId());
    await waitForEvent(lab, since, 'repaired', ({ type }) => type === 'repaired', 2_000);
    await expect.poll(lbState, { timeout: 2_000, interval: 20 }).toEqual(before);
    expect(await lab.client.open(connections)).toMatchObject({ opened: connections });
  });

  it('is put right on the LB when it is a next hop, and breaks no connection of the others', async () => {
    const before = await lbState();
    await lb('ip', 'nexthop', 'delete', 'id', await idOf(master));
    await expect.poll(lbState, { timeout: 2_000, interval: 20 }).toEqual(before);
    // The kernel gave its buckets to the others at once: what sent a packet meanwhile is lost.
    const { brokenByMaster } = await lab.client.check();
    expect(brokenAt(others(lab, master), brokenByMaster)).toBe(0);
    expect(await member(lab, master)).toMatchObject({ state: 'active' });
  });

  it.each([
    ['flush', 'chain', 'inet', 'bgp_lb_router', 'forward'],
    ['delete', 'table', 'inet', 'bgp_lb_router'],
    ['flush', 'ruleset'],
  ])('is put right on the LB at once after nft %s %s', async (...change) => {
    const before = await nftTable();
    await lb('nft', ...change);
    await expect.poll(nftTable, { timeout: 3_000, interval: 20 }).toBe(before);
  });

  it('is put right on the LB when nothing announces it: a sysctl', async () => {
    const policy = async (): Promise<string> =>
      (await lb('cat', '/proc/sys/net/ipv4/fib_multipath_hash_policy')).trim();
    await lab.lb.writeSysctls({ 'net.ipv4.fib_multipath_hash_policy': '0' });
    await expect.poll(policy, { timeout: 35_000, interval: 200 }).toBe('1');
  });

  it('stays on the LB when it is not ours', async () => {
    await lb('ip', 'route', 'add', '192.0.2.0/24', 'via', '10.0.1.1');
    await lb('ip', 'rule', 'add', 'from', '192.0.2.0/24', 'lookup', 'main', 'priority', '900');
    await lb('ip', 'nexthop', 'add', 'id', '4711', 'via', '10.0.1.1', 'dev', 'eth1');
    await lb('nft', 'add', 'table', 'inet', 'somebodys');
    const since = await lastEvent(lab);
    await lb('ip', 'route', 'delete', vip, 'metric', '84');
    await waitForEvent(lab, since, 'repaired', ({ type }) => type === 'repaired');
    await lab.lb.router.stop();
    await lab.lb.router.start();
    await heal(lab);
    expect(await lb('ip', 'route', 'show', '192.0.2.0/24')).toContain('10.0.1.1');
    expect(await lb('ip', 'rule', 'show', 'priority', '900')).toContain('192.0.2.0/24');
    expect(await lb('ip', 'nexthop', 'show', 'id', '4711')).toContain('10.0.1.1');
    expect(await lb('nft', 'list', 'tables')).toContain('somebodys');
  });

  const isMapped = async (): Promise<boolean> =>
    (await master.exec(['nft', 'list', 'ruleset'])).includes(`${vipAddress} . 6443 timeout`);
  it.each<[string, number, string[], () => Promise<boolean>]>([
    ['the VIP on lo', 1_000, ['ip', 'address', 'delete', vip, 'dev', 'lo'], () => master.hasVip()],
    [
      'the nft table, and with it the port mapping',
      3_000,
      ['nft', 'delete', 'table', 'inet', 'bgp_lb_speaker'],
      isMapped,
    ],
    [
      'an ARP setting',
      12_000,
      ['sh', '-c', 'echo 0 > /proc/sys/net/ipv4/conf/eth0/arp_ignore'],
      async () => (await master.exec(['cat', '/proc/sys/net/ipv4/conf/eth0/arp_ignore'])).trim() === '1',
    ],
  ])('is put right on a master, and nothing breaks elsewhere: %s', async (what, timeoutMs, argv, isRight) => {
    const repairs = async (): Promise<number> =>
      ((await master.speaker.request('GET', '/api/v1/events?type=kernel-repaired')) as unknown[]).length;
    const before = await repairs();
    await master.exec(argv);
    await waitUntil(async () => (await repairs()) > before && isRight(), { what: `${what} back`, timeoutMs });
    const { brokenByMaster } = await lab.client.check();
    expect(brokenAt(others(lab, master), brokenByMaster)).toBe(0);
    await expect.poll(() => member(lab, master), { timeout: 5_000 }).toMatchObject({ state: 'active' });
    expect(await lab.client.open(connections)).toMatchObject({ opened: connections, failed: 0 });
  });

  it('is put right when the link to the masters was down: the pool is back, each member once', async () => {
    const before = await lbState();
    const since = await lastEvent(lab);
    // Longer than a carrier flap, shorter than the hold time of 3 s: the sessions live.
    await lb('ip', 'link', 'set', 'eth0', 'down');
    await waitForEvent(
      lab,
      since,
      'nobody forwarded to',
      ({ type, nextHops }) => type === 'vip-forwarding' && Array.isArray(nextHops) && nextHops.length === 0,
    );
    const { ok, took, error } = await lab.client.request();
    expect({ ok, isQuick: took < 500 }, error).toEqual({ ok: false, isQuick: true });
    await lb('ip', 'link', 'set', 'eth0', 'up');
    await lab.lb.waitForPool(addresses(lab.masters));
    await expect.poll(lbState, { timeout: 15_000, interval: 50 }).toEqual(before);
    // The kernel forgot the group with the link, and with it which connection was whose: those may have to connect again.
    expect(await lab.client.open(connections)).toMatchObject({ opened: connections, failed: 0 });
    const events = await eventsSince(lab, since);
    const entered = events.filter(({ type, to }) => type === 'member-transition' && to === 'active');
    for (const address of addresses(lab.masters)) {
      expect(entered.filter(({ nextHop }) => nextHop === address).length).toBeLessThanOrEqual(1);
    }
    expect(events.filter(({ type }) => type === 'vip-forwarding').length).toBeLessThanOrEqual(4);
  });
});
