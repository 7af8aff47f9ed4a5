/** Where next hops, routes and groups are: interfaces that change, other tables, other kernels, and what was not heard of. */
import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WeightedNextHop } from '../../pool/member-view.ts';
import { DataPlaneProcess, VIP } from './testing/data-plane-process.ts';
import { LbNamespaces } from './testing/lb-namespaces.ts';
import { VipServers } from './testing/vip-servers.ts';

const SLOW = 60_000;

let lab: LbNamespaces;
let servers: VipServers;
let plane: DataPlaneProcess | undefined;

beforeEach(() => {
  lab = new LbNamespaces(['client', 'm1', 'm2']);
  servers = new VipServers(lab);
}, SLOW);

afterEach(async () => {
  servers?.close();
  await plane?.kill();
  lab?.remove();
}, SLOW);

type Options = Parameters<typeof DataPlaneProcess.in>[1];

async function start(options: Options = {}): Promise<DataPlaneProcess> {
  // No slow timer comes to help.
  plane = await DataPlaneProcess.in(lab.lb, { repairInterval: 3_600_000, ...options });
  await plane.start();
  return plane;
}

function members(...names: string[]): WeightedNextHop[] {
  return names.map((name) => ({ nextHop: lab.member(name).address, weight: 256 }));
}

/** Interfaces by the gateways that the VIP's group leads to. */
function ways(): Record<string, string> {
  const hops = lab.json('nexthop').filter((nexthop) => nexthop.gateway !== undefined);
  return Object.fromEntries(hops.map(({ gateway, dev }) => [gateway, dev]));
}

const [M1, M2] = ['10.0.2.11', '10.0.3.11'];
const forwardingTo = (...nextHops: string[]) => ({
  event: 'forwarding',
  text: `${VIP} ${nextHops.join(' ')}`,
});

/** Cables the LB to m1 again, by an interface of that name. */
function cable(device: string): void {
  const { namespace } = lab.member('m1');
  lab.ip('link', 'add', device, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
  const inM1 = (...argv: string[]): unknown => execFileSync('ip', ['-n', namespace, ...argv]);
  inM1('addr', 'add', `${M1}/24`, 'dev', 'eth0');
  inM1('link', 'set', 'eth0', 'up');
  lab.ip('addr', 'add', '10.0.2.10/24', 'dev', device);
  lab.ip('link', 'set', device, 'up');
}

describe('an interface towards a member', () => {
  it.each([
    ['is replaced by another of its name', 'to-m1'],
    ['is gone, and the member is found on another one', 'other'],
  ])(
    '%s: the member is forwarded to by the new one, and gets its copies there',
    async (_, device) => {
      const running = await start();
      await running.setNextHops(members('m1', 'm2'));
      lab.ip('link', 'del', 'to-m1');
      await running.event(({ event, text }) => event === 'forwarding' && text === forwardingTo(M2).text);
      const seen = running.events.length;
      cable(device);
      await running.event(
        (event) => running.events.indexOf(event) >= seen && event.text === forwardingTo(M1, M2).text,
      );
      expect(ways()).toEqual({ [M1]: device, [M2]: 'to-m2' });
      await expect
        .poll(() => lab.exec('nft', 'list', 'table', 'ip', 'bgp_lb_router'), { timeout: 20_000 })
        .toContain(`dup to ${M1} device "${device}" dup to ${M2} device "to-m2"`);
    },
    SLOW,
  );

  it(
    'is renamed: nothing moves, and it is shown by its new name',
    async () => {
      const running = await start();
      await running.setNextHops(members('m1', 'm2'));
      const before = lab.ip('nexthop', 'bucket', 'show').replaceAll(/idle_time \S+/g, '');
      lab.ip('link', 'set', 'to-m1', 'name', 'renamed');
      const interfaces = async (): Promise<unknown> =>
        (await running.status()).vips[0]?.members.map(({ interfaceName }) => interfaceName);
      await expect.poll(interfaces, { timeout: 20_000 }).toEqual(['renamed', 'to-m2']);
      expect(lab.ip('nexthop', 'bucket', 'show').replaceAll(/idle_time \S+/g, '')).toBe(before);
      expect(running.events.filter(({ event }) => event === 'forwarding')).toHaveLength(1);
    },
    SLOW,
  );

  it(
    'has a member that answers on another one now: its next hop moves, its buckets do not',
    async () => {
      const running = await start();
      await running.setNextHops(members('m1', 'm2'));
      const before = lab.ip('nexthop', 'bucket', 'show').replaceAll(/idle_time \S+/g, '');
      lab.ip('route', 'add', `${M1}/32`, 'dev', 'to-m2');
      await expect.poll(ways, { timeout: 20_000 }).toEqual({ [M1]: 'to-m2', [M2]: 'to-m2' });
      expect(lab.ip('nexthop', 'bucket', 'show').replaceAll(/idle_time \S+/g, '')).toBe(before);
    },
    SLOW,
  );
});

describe('a table beside main', () => {
  it(
    'carries the VIP for those whom a rule leads there, and main knows nothing of it',
    async () => {
      lab.exec('ip', '-n', lab.member('client').namespace, 'addr', 'del', VIP, 'dev', 'lo');
      await servers.serve('m1', 'm1');
      const running = await start({ table: 1084 });
      lab.ip('rule', 'add', 'iif', 'to-client', 'lookup', '1084', 'priority', '1000');
      await running.setNextHops(members('m1'));
      expect(lab.ip('route', 'show', 'table', 'main')).not.toContain('10.100.0.1');
      expect(await servers.connect('client', 6443)).toBe('m1');
      await running.setNextHops([]);
      const way = ['route', 'get', '10.100.0.1', 'from', lab.member('client').address, 'iif', 'to-client'];
      expect(() => lab.ip(...way)).toThrow('No route to host');
    },
    SLOW,
  );
});

describe('a kernel without resilient groups', () => {
  it(
    'forwards by a plain one, says what that costs, and shows shares by weight',
    async () => {
      lab.exec('ip', '-n', lab.member('client').namespace, 'addr', 'del', VIP, 'dev', 'lo');
      await servers.serve('m1', 'm1');
      await servers.serve('m2', 'm2');
      const running = await start({ hasResilientGroups: false });
      await running.setNextHops(members('m1', 'm2'));
      const [group] = lab.json('nexthop').filter((nexthop) => nexthop.group !== undefined);
      expect(group?.type).not.toBe('resilient');
      const { problems, vips } = await running.status();
      expect(problems.join()).toMatch(/forwards by plain groups.*breaks connections of the others/);
      expect(vips[0]?.members.map(({ share }) => share)).toEqual([0.5, 0.5]);
      expect(['m1', 'm2']).toContain(await servers.connect('client', 6443));
      await running.setNextHops(members('m2'));
      expect(await servers.connect('client', 6443)).toBe('m2');
    },
    SLOW,
  );
});

describe('more notifications than the monitor can hold', () => {
  it(
    'make it look at everything anew, and put right what it did not hear of',
    async () => {
      const running = await start();
      await running.setNextHops(members('m1', 'm2'));
      running.pause();
      // The buffer of the monitor is 4 MiB, and a notification of a route takes more than 500 octets of it.
      const flood = Array.from(
        { length: 20_000 },
        (_, i) => `route add 10.${9 + (i >> 16)}.${(i >> 8) & 255}.${i & 255} dev to-m1 table 77`,
      );
      execFileSync('ip', ['-n', lab.lb, '-batch', '-'], { input: `${flood.join('\n')}\n` });
      lab.ip('route', 'del', VIP, 'metric', '84');
      lab.exec('nft', 'delete', 'table', 'inet', 'bgp_lb_router');
      running.resume();
      await running.event(({ event, text }) => event === 'repaired' && text.includes('set-route'), 30_000);
      await running.event(
        ({ event, text }) => event === 'repaired' && text.includes('nft table inet'),
        30_000,
      );
      expect(lab.ip('route', 'show', VIP)).toContain('nhid');
    },
    SLOW,
  );
});

describe('sixteen VIPs with sixteen members each', () => {
  it(
    'change at once, each to what its own pool says',
    async () => {
      const all = Array.from({ length: 16 }, (_, i) => `10.0.2.${21 + i}`);
      const vips = Array.from({ length: 16 }, (_, i) => `10.100.1.${i + 1}`);
      const running = await start({
        vips: vips.map((address) => ({ prefix: `${address}/32`, address, port: 6443 })),
      });
      const full = (nextHops: readonly string[]): WeightedNextHop[] =>
        nextHops.map((nextHop) => ({ nextHop, weight: 256 }));
      await running.setAllNextHops(new Map(vips.map((vip) => [`${vip}/32`, full(all)])));
      // Each VIP loses another member.
      await running.setAllNextHops(
        new Map(vips.map((vip, i) => [`${vip}/32`, full(all.filter((_, n) => n !== i))])),
      );
      const hops = lab.json('nexthop');
      const gateways = new Map(hops.map(({ id, gateway }) => [id, gateway]));
      const routes = lab.json('route', 'show', 'table', 'main').filter(({ nhid }) => nhid !== undefined);
      expect(routes).toHaveLength(16);
      for (const [i, vip] of vips.entries()) {
        const group = hops.find(({ id }) => id === routes.find(({ dst }) => dst === vip)?.nhid);
        const reached = (group?.group ?? []).map((member: { id: number }) => gateways.get(member.id)).sort();
        expect(reached).toEqual(all.filter((_, n) => n !== i).sort());
      }
      const { vips: shown, problems } = await running.status();
      expect(problems).toEqual([]);
      expect(
        shown.map(({ members: list }) => list.reduce((sum, { buckets = 0 }) => sum + buckets, 0)),
      ).toEqual(vips.map(() => 1024));
    },
    SLOW,
  );
});

describe('a member that is alone', () => {
  it(
    'keeps every bucket that is in use when another one comes, as in a pool of several',
    async () => {
      const { namespace } = lab.member('client');
      lab.exec('ip', '-n', namespace, 'addr', 'del', VIP, 'dev', 'lo');
      const running = await start({ buckets: 64 });
      await running.setNextHops(members('m1'));
      await running.setNextHops(members('m1'));
      const flows = 'for p in $(seq 2000 3500); do echo > /dev/udp/10.100.0.1/$p; done 2>/dev/null; true';
      execFileSync('ip', ['netns', 'exec', namespace, 'bash', '-c', flows]);
      await running.setNextHops(members('m1', 'm2'));
      const shown = (await running.status()).vips[0]?.members;
      expect(shown?.map(({ buckets, problem }) => [buckets, problem])).toEqual([
        [64, ''],
        [0, ''],
      ]);
      // It leaves with all that it has, and is adopted as one.
      await running.setNextHops(members('m2'));
      expect((await running.status()).vips[0]?.members.map(({ buckets }) => buckets)).toEqual([64]);
      expect(Object.keys(ways())).toEqual([M2]);
      await running.kill();
      plane = await DataPlaneProcess.in(lab.lb, { buckets: 64 });
      expect(await plane.start()).toEqual({ [VIP]: members('m2') });
    },
    SLOW,
  );
});

describe('a rebalance', () => {
  it(
    'moves as many buckets of others to a member as it may, the longest idle first',
    async () => {
      const { namespace } = lab.member('client');
      lab.exec('ip', '-n', namespace, 'addr', 'del', VIP, 'dev', 'lo');
      const running = await start({ buckets: 64 });
      const old = members('m1', 'm2');
      const newcomer = '10.0.2.50';
      await running.setNextHops(old);
      // So many flows that every bucket has one. They are refused further on, but have been given a way by then.
      const flows = 'for p in $(seq 2000 3500); do echo > /dev/udp/10.100.0.1/$p; done 2>/dev/null; true';
      execFileSync('ip', ['netns', 'exec', namespace, 'bash', '-c', flows]);
      await running.setNextHops([...old, { nextHop: newcomer, weight: 256 }]);
      const has = async (): Promise<number | undefined> =>
        (await running.status()).vips[0]?.members.find(({ nextHop }) => nextHop === newcomer)?.buckets;
      // None has been idle for 120 s: the newcomer gets nothing by itself, and nothing that is busy if it must not.
      expect(await has()).toBe(0);
      const none = { moved: 0, busy: 0 };
      const fair = 21;
      expect(await running.moveBuckets(newcomer, { part: 1, mostBusy: 0 })).toEqual({
        ...none,
        missing: fair,
      });
      const first = await running.moveBuckets(newcomer, { part: 0.1, mostBusy: 64 });
      const moved = (await has()) ?? 0;
      // Seven, and those that were used in the same hundredth of a second as the last of them.
      expect(moved).toBeGreaterThanOrEqual(7);
      expect(first).toEqual({ moved, busy: moved, missing: fair - moved });
      await running.moveBuckets(newcomer, { part: 1, mostBusy: 64 });
      expect(await has()).toBe(fair);
      const [group] = lab.json('nexthop').filter((nexthop) => nexthop.group !== undefined);
      expect(group?.resilient_args).toMatchObject({ buckets: 64, idle_timer: 120 });
      expect(await running.moveBuckets(newcomer, { part: 1, mostBusy: 64 })).toEqual({ ...none, missing: 0 });
    },
    SLOW,
  );
});
