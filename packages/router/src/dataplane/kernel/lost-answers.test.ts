import { constants } from 'node:os';
import { type Link, NetlinkError, type RouteDecision } from '@bgp-lb/linux';
import { describe, expect, it } from 'vitest';
import type { Resolution, Wanted } from './desired-objects.ts';
import { KernelReconciler, type Pass } from './kernel-reconciler.ts';
import { NextHopResolver } from './next-hop-resolver.ts';
import { ObjectIds } from './object-ids.ts';
import { type Fate, MemoryKernel } from './testing/memory-kernel.ts';

const vips = ['10.100.0.1/32', '10.100.0.2/32'];
const way: Resolution = { interfaceIndex: 2, interfaceName: 'eth0' };

function wanted(nextHops: readonly string[], buckets = 1024): Wanted {
  return {
    vips: new Map(vips.map((vip) => [vip, nextHops.map((nextHop) => ({ nextHop, weight: 256 }))])),
    probed: new Map(nextHops.map((nextHop, i) => [nextHop, 0x84001 + i])),
    replyMark: 0x84000,
    resolve: () => way,
    table: 254,
    resilient: { buckets, idleTimer: 120, unbalancedTimer: 0 },
  };
}

/** A life of the pool: from nothing to three members, one leaves, other buckets, none, one again. */
const life: readonly Wanted[] = [
  wanted([]),
  wanted(['10.0.0.11', '10.0.0.12', '10.0.0.13']),
  wanted(['10.0.0.11', '10.0.0.13']),
  wanted(['10.0.0.11', '10.0.0.13'], 4096),
  wanted([]),
  wanted(['10.0.0.12']),
];

function reconciler(kernel: MemoryKernel, refuse: (nextHop: string) => void = () => undefined) {
  return new KernelReconciler({
    socket: kernel,
    resolver: { refuse },
    ids: new ObjectIds(vips),
    protocol: 84,
    now: () => 0,
    onOperation: () => undefined,
  });
}

/** The life with what the kernel does to each request, by its number; the contents after each step, and what failed. */
function live(fate: (request: number) => Fate): { contents: unknown[]; failed: string[]; requests: number } {
  const kernel = new MemoryKernel();
  kernel.fate = () => fate(kernel.requests.length - 1);
  const refused: string[] = [];
  const one = reconciler(kernel, (nextHop) => refused.push(nextHop));
  const failed: string[] = [];
  const contents = life.map((step) => {
    failed.push(...one.reconcile(step).failed);
    return kernel.contents();
  });
  expect(refused).toEqual([]);
  expect(one.problems).toEqual([]);
  return { contents, failed, requests: kernel.requests.length };
}

describe('a lost answer', () => {
  it.each(['lost-after', 'lost-before'] as const)(
    'of any one request leaves the kernel as wanted within the same pass: %s',
    (fate) => {
      const undisturbed = live(() => 'done');
      expect(undisturbed.failed).toEqual([]);
      // The first four read what is there.
      for (let n = 4; n < undisturbed.requests; n++) {
        const { contents, failed } = live((request) => (request === n ? fate : 'done'));
        expect({ n, contents, failed }).toEqual({ n, contents: undisturbed.contents, failed: [] });
      }
    },
  );

  it.each(['lost-after', 'lost-before'] as const)(
    'of many requests is made up for by the next passes: %s',
    (fate) => {
      const kernel = new MemoryKernel();
      const one = reconciler(kernel);
      let count = 0;
      // Every third is lost, for a while: of some passes the reading too.
      kernel.fate = () => (count++ < 200 && count % 3 === 0 ? fate : 'done');
      for (const step of life) {
        let pass: Pass = one.reconcile(step);
        for (let n = 0; n < 100 && pass.failed.length > 0; n++) pass = one.reconcile(step);
        expect(pass.failed).toEqual([]);
      }
      const undisturbed = live(() => 'done');
      expect(kernel.contents()).toEqual(undisturbed.contents.at(-1));
    },
  );

  it('of everything costs what was sent together and a look, and what is there stays', () => {
    const kernel = new MemoryKernel();
    const one = reconciler(kernel);
    one.reconcile(wanted(['10.0.0.11']));
    const before = kernel.contents();
    kernel.fate = () => 'lost-before';
    kernel.requests.length = 0;
    const { datagrams } = kernel;
    const pass = one.reconcile(wanted(['10.0.0.12']));
    expect(pass.failed.join()).toContain('the kernel cannot be read');
    expect(kernel.datagrams - datagrams).toBe(1);
    expect(kernel.requests.filter((request) => request.startsWith('read'))).toEqual(['read next hops']);
    expect(one.isUncertain).toBe(true);
    // And the next ones ask no more than whether it can be read.
    kernel.requests.length = 0;
    one.reconcile(wanted([]));
    expect(kernel.requests).toEqual(['read next hops']);
    expect(kernel.contents()).toEqual(before);
  });

  it('is no reason to leave a next hop out, nor for a plain group', () => {
    const kernel = new MemoryKernel();
    const refused: string[] = [];
    const one = reconciler(kernel, (nextHop) => refused.push(nextHop));
    kernel.fate = (request) => (/^set (next hop|group)/.test(request) ? 'lost-before' : 'done');
    expect(one.reconcile(wanted(['10.0.0.11'])).failed).not.toEqual([]);
    kernel.fate = () => 'done';
    expect(one.reconcile(wanted(['10.0.0.11'])).failed).toEqual([]);
    expect(refused).toEqual([]);
    expect(one.problems).toEqual([]);
    expect(one.groupOf('10.100.0.1/32', 254, 84)?.resilient).toBeDefined();
  });

  it('of a moment with a short idle timer has the group looked at', () => {
    const kernel = new MemoryKernel();
    const one = reconciler(kernel);
    one.reconcile(wanted(['10.0.0.11', '10.0.0.12']));
    const before = kernel.contents();
    const group = one.groupOf('10.100.0.1/32', 254, 84);
    expect(group).toBeDefined();
    let sets = 0;
    // The request that gives the timer back does not arrive.
    kernel.fate = () => (++sets === 2 ? 'lost-before' : 'done');
    expect(group && one.pulse(group, 1)).toContain('ENOBUFS');
    expect(one.isUncertain).toBe(true);
    expect(kernel.contents()).not.toEqual(before);
    one.reconcile(wanted(['10.0.0.11', '10.0.0.12']));
    expect(kernel.contents()).toEqual(before);
  });
});

describe('a question about a next hop that is left unanswered', () => {
  const link = { index: 2, name: 'eth0', isUp: true, hasCarrier: true };
  const unanswered = new NetlinkError('find the route', constants.errno.ETIMEDOUT, undefined, false);
  let isSilent = false;
  let questions = 0;

  function ask<T>(answer: T): T {
    questions += 1;
    if (isSilent) throw unanswered;
    return answer;
  }
  const decision = { type: 'unicast', interfaceIndex: 2, table: 254 };
  const socket = {
    links: () => ask([link as Link]),
    routeTo: (nextHop: string): RouteDecision => {
      if (nextHop === '192.0.2.1') throw new NetlinkError('find the route', constants.errno.ENETUNREACH);
      return ask(decision as RouteDecision);
    },
  };

  it('says nothing about it: what was known holds, and nothing more is asked until the next look', () => {
    isSilent = false;
    const resolver = new NextHopResolver(socket);
    expect(resolver.resolve('10.0.0.11')).toEqual(way);
    expect(resolver.resolve('192.0.2.1')).toMatchObject({ problem: expect.stringContaining('ENETUNREACH') });
    isSilent = true;
    for (const _ of [1, 2, 3]) {
      resolver.invalidate();
      questions = 0;
      expect(resolver.silence).toBeUndefined();
      expect(resolver.resolve('10.0.0.11')).toEqual(way);
      expect(resolver.resolve('10.0.0.12')).toEqual({ problem: 'no answer about the way to 10.0.0.12' });
      expect([...resolver.links().values()]).toEqual([link]);
      expect(resolver.silence).toContain('ETIMEDOUT');
      expect(questions).toBe(1);
    }
    isSilent = false;
    resolver.invalidate();
    expect(resolver.resolve('10.0.0.12')).toEqual(way);
    expect(resolver.silence).toBeUndefined();
  });
});
