import { constants } from 'node:os';
import { NetlinkError, type RouteChange } from '@bgp-lb/linux';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Resolution, ROUTE_METRIC, type Wanted } from './desired-objects.ts';
import type { KernelSocket } from './kernel-access.ts';
import { KernelReconciler } from './kernel-reconciler.ts';
import { ObjectIds } from './object-ids.ts';
import { MemoryKernel } from './testing/memory-kernel.ts';

const VIP = '10.100.0.1/32';

let requests: string[];
let refuse: (request: string) => boolean;
/** The error that it refuses with. */
let refusal: number;
let refused: Map<string, string>;
let reconciler: KernelReconciler;

function nameOf(change: RouteChange): string {
  switch (change.kind) {
    case 'set-nexthop':
      return `nexthop ${change.nexthop.gateway}`;
    case 'set-nexthop-group':
      return `group ${change.group.resilient?.buckets} of ${change.group.members.length}`;
    case 'delete-nexthop':
      return `delete ${change.id}`;
    case 'set-route':
      return `route ${change.route.type ?? change.route.nexthopId}`;
    case 'delete-route':
      return `delete route ${change.route.metric}`;
    case 'add-rule':
      return 'rule';
    case 'delete-rule':
      return 'delete rule';
  }
}

/** Notes the requests, and refuses them as the kernel would when the test says so. */
const socket: KernelSocket = {
  links: () => [],
  nexthops: () => [],
  routes: () => [],
  rules: () => [],
  changeEach: (changes) =>
    changes.map((change) => {
      const request = nameOf(change);
      requests.push(request);
      return refuse(request)
        ? new NetlinkError(request, refusal, 'Carrier for nexthop device is down')
        : undefined;
    }),
};

beforeEach(() => {
  requests = [];
  refused = new Map();
  refuse = () => false;
  refusal = constants.errno.ENETDOWN;
  reconciler = new KernelReconciler({
    socket,
    resolver: { refuse: (nextHop, problem) => refused.set(nextHop, problem) },
    ids: new ObjectIds([VIP]),
    protocol: 84,
    now: () => 0,
    onOperation: () => undefined,
  });
});

function wanted(nextHops: readonly string[], buckets = 1024): Wanted {
  return {
    vips: new Map([[VIP, nextHops.map((nextHop) => ({ nextHop, weight: 256 }))]]),
    probed: new Map(),
    replyMark: 0x84000,
    resolve: (nextHop): Resolution => {
      const problem = refused.get(nextHop);
      return problem === undefined ? { interfaceIndex: 2, interfaceName: 'eth0' } : { problem };
    },
    table: 254,
    resilient: { buckets, idleTimer: 120, unbalancedTimer: 0 },
  };
}

function forwarding(): string[] {
  return reconciler.forwarding(VIP, 254, ROUTE_METRIC).map(({ nextHop }) => nextHop);
}

describe('the reconciler', () => {
  it('carries the others when the kernel refuses one next hop, and says which', () => {
    refuse = (request) => request === 'nexthop 10.0.0.11';
    const pass = reconciler.reconcile(wanted(['10.0.0.11', '10.0.0.12']));
    expect(forwarding()).toEqual(['10.0.0.12']);
    expect(pass.failed).toHaveLength(1);
    expect(pass.failed[0]).toContain('10.0.0.11');
    expect(pass.failed[0]).toContain('Carrier for nexthop device is down');
  });

  it('deletes nothing while what is to take its place was refused', () => {
    reconciler.reconcile(wanted(['10.0.0.11']));
    requests = [];
    refuse = (request) => request.startsWith('group 4096');
    const pass = reconciler.reconcile(wanted(['10.0.0.11'], 4096));
    expect(pass.failed).not.toEqual([]);
    expect(requests.filter((request) => request.startsWith('delete'))).toEqual([]);
    expect(forwarding()).toEqual(['10.0.0.11']);
  });

  it('forwards by a plain group where the kernel has no resilient ones, says so, and asks no more', () => {
    refuse = (request) => request.startsWith('group 1024');
    refusal = constants.errno.EINVAL;
    expect(reconciler.reconcile(wanted(['10.0.0.11', '10.0.0.12'])).failed).toEqual([]);
    expect(forwarding()).toEqual(['10.0.0.11', '10.0.0.12']);
    expect(reconciler.problems.join()).toMatch(/plain groups.*Carrier for nexthop device is down/);
    requests = [];
    reconciler.reconcile(wanted(['10.0.0.12']));
    expect(requests[0]).toBe('group undefined of 1');
    expect(forwarding()).toEqual(['10.0.0.12']);
  });

  it('takes no other refusal of a group for that', () => {
    refuse = (request) => request.startsWith('group');
    refusal = constants.errno.EINVAL;
    expect(reconciler.reconcile(wanted(['10.0.0.11'])).failed).toHaveLength(1);
    expect(reconciler.problems).toEqual([]);
  });

  it.each(['ENOMEM', 'ENOBUFS', 'EPERM'] as const)(
    'takes %s for a group for what passes, and has no plain one for it',
    (name) => {
      refuse = (request) => request.startsWith('group 1024');
      refusal = constants.errno[name];
      expect(reconciler.reconcile(wanted(['10.0.0.11'])).failed).toHaveLength(1);
      expect(requests.filter((request) => request.startsWith('group'))).toEqual(['group 1024 of 2']);
      refuse = () => false;
      reconciler.reconcile(wanted(['10.0.0.11']));
      expect(reconciler.groupOf(VIP, 254, ROUTE_METRIC)?.resilient).toBeDefined();
    },
  );

  it('makes one request for a change of one weight, and none for no change', () => {
    reconciler.reconcile(wanted(['10.0.0.11', '10.0.0.12']));
    requests = [];
    reconciler.reconcile(wanted(['10.0.0.12', '10.0.0.11']));
    expect(requests).toEqual([]);
    reconciler.reconcile({
      ...wanted([]),
      vips: new Map([
        [
          VIP,
          [
            { nextHop: '10.0.0.11', weight: 1 },
            { nextHop: '10.0.0.12', weight: 256 },
          ],
        ],
      ]),
    });
    expect(requests).toEqual(['group 1024 of 2']);
  });

  it('sends what concerns several VIPs together, kind by kind', () => {
    const kernel = new MemoryKernel();
    const vips = [VIP, '10.100.0.2/32', '10.100.0.3/32'];
    const one = new KernelReconciler({
      socket: kernel,
      resolver: { refuse: () => undefined },
      ids: new ObjectIds(vips),
      protocol: 84,
      now: () => 0,
      onOperation: () => undefined,
    });
    const ofAll = (nextHops: readonly string[]): Wanted => {
      const { vips: own, ...others } = wanted(nextHops);
      return { ...others, vips: new Map(vips.map((vip) => [vip, own.get(VIP) ?? []])) };
    };
    one.reconcile(ofAll(['10.0.0.11', '10.0.0.12']));
    // Floors, next hops, groups, routes.
    expect(kernel.datagrams).toBe(4);
    kernel.requests.length = 0;
    one.reconcile(ofAll(['10.0.0.12']));
    expect(kernel.datagrams).toBe(4 + 3);
    expect(kernel.requests.map((request) => request.split(' ').slice(0, 3).join(' '))).toEqual([
      // The twin of the one that is alone.
      'set next hop',
      ...vips.map(() => expect.stringMatching(/^set group/)),
      'delete next hop',
    ]);
  });

  it('sees by reading back that everything is gone', () => {
    reconciler.reconcile(wanted(['10.0.0.11']));
    reconciler.readBack();
    expect(forwarding()).toEqual([]);
    // Floor, next hop and its twin, group, route.
    expect(reconciler.reconcile(wanted(['10.0.0.11'])).done).toHaveLength(5);
    expect(forwarding()).toEqual(['10.0.0.11']);
  });
});
