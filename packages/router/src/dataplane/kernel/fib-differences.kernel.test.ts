import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DataPlaneProcess, VIP } from './testing/data-plane-process.ts';
import { LbNamespaces } from './testing/lb-namespaces.ts';

describe('what the kernel has against what is wanted', () => {
  let lab: LbNamespaces;
  let plane: DataPlaneProcess;
  let ids: readonly number[];
  let group: number;

  beforeAll(async () => {
    lab = new LbNamespaces(['m1', 'm2']);
    plane = await DataPlaneProcess.in(lab.lb);
    await plane.start();
    const members = lab.members.map(({ address }) => address);
    await plane.setProbed(members);
    await plane.setNextHops(members.map((nextHop) => ({ nextHop, weight: 256 })));
    const hops = lab.json('nexthop');
    ids = lab.members.map(({ address }) => hops.find(({ gateway }) => gateway === address)?.id);
    group = hops.find((hop) => hop.group !== undefined)?.id;
  }, 60_000);
  afterAll(async () => {
    await plane?.kill();
    lab?.remove();
  });

  /** The changes by others that were put right; the differences that there are afterwards. */
  async function afterRepair(what: RegExp): Promise<readonly string[]> {
    await plane.event(({ event, text }) => event === 'repaired' && what.test(text), 30_000);
    let left: readonly string[] = [];
    // Where one change leads to others they are put right one after the other.
    await expect
      .poll(
        async () => {
          left = await plane.differencesAfter();
          return left;
        },
        { timeout: 30_000, interval: 50 },
      )
      .toEqual([]);
    return left;
  }

  it('is nothing while nobody changes anything', async () => {
    // Who gets copies of ICMP errors follows a moment later.
    await expect.poll(() => plane.differencesAfter(), { timeout: 30_000, interval: 50 }).toEqual([]);
  });

  it('is a route that somebody deleted, until it is there again', async () => {
    const route = ['ip', 'route', 'del', '10.100.0.1', 'metric', '84'];
    expect(await plane.differencesAfter(route)).toEqual([
      `${VIP} route table 254 metric 84: missing; wanted group ${group}`,
    ]);
    expect(await afterRepair(/set-route .*metric 84/)).toEqual([]);
  });

  it('is a next hop that somebody changed', async () => {
    const [id] = ids;
    const hop = [
      'ip',
      'nexthop',
      'replace',
      'id',
      `${id}`,
      'via',
      '10.0.1.99',
      'dev',
      'to-m1',
      'protocol',
      '84',
    ];
    expect(await plane.differencesAfter(hop)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^${VIP} next hop ${id}: the kernel has via 10.0.1.99 on interface \\d+; wanted via 10.0.1.11 on`,
        ),
      ),
    ]);
    expect(await afterRepair(new RegExp(`set-nexthop ${id}`))).toEqual([]);
  });

  it('is a group without one of its members', async () => {
    const [, id] = ids;
    const found = await plane.differencesAfter(['ip', 'nexthop', 'del', 'id', `${id}`]);
    expect(found).toContainEqual(
      expect.stringMatching(new RegExp(`^${VIP} next hop ${id}: missing; wanted via 10.0.2.11`)),
    );
    expect(found).toContainEqual(
      expect.stringMatching(new RegExp(`^${VIP} group ${group}: the kernel has .*; wanted .*${id} x256`)),
    );
    expect(await afterRepair(new RegExp(`set-group ${group}`))).toEqual([]);
  });

  it('is a rule for health checks, and one that nobody asked for', async () => {
    const [rule] = lab.json('rule').filter(({ protocol }) => protocol === '84');
    const mark = String(rule?.fwmark);
    const found = await plane.differencesAfter(
      ['ip', 'rule', 'del', 'fwmark', mark, 'protocol', '84'],
      ['ip', 'rule', 'add', 'priority', '84', 'fwmark', '0x99', 'lookup', '99', 'protocol', '84'],
    );
    expect(found).toEqual([
      `all rule IPv4 priority 84 fwmark ${Number(mark)} lookup ${Number(mark)}: missing`,
      'all rule IPv4 priority 84 fwmark 153 lookup 99: not wanted',
    ]);
    expect(await afterRepair(/delete-rule/)).toEqual([]);
  });

  it('is a rule of the firewall that somebody deleted', async () => {
    const listed = lab.exec('nft', '-a', 'list', 'chain', 'inet', 'bgp_lb_router', 'forward');
    const handle = /accept comment "bgp-lb 0 [^#]*# handle (\d+)/.exec(listed)?.[1] ?? '';
    const rule = ['nft', 'delete', 'rule', 'inet', 'bgp_lb_router', 'forward', 'handle', handle];
    expect(await plane.differencesAfter(rule)).toEqual([
      `${VIP} firewall table inet bgp_lb_router: chain forward: rule 1 of 4 is missing`,
    ]);
    expect(await afterRepair(/nft table inet/)).toEqual([]);
  });
});
