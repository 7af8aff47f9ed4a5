import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WeightedNextHop } from '../../pool/member-view.ts';
import type { HaproxyDataPlane } from './haproxy-data-plane.ts';
import { RunTimeClient } from './run-time-client.ts';
import { HaproxyHost } from './testing/haproxy-host.ts';

const full = (nextHop: string): WeightedNextHop => ({ nextHop, weight: 256 });

describe('HAProxy that refuses something, or is away', () => {
  let host: HaproxyHost;
  let plane: HaproxyDataPlane;
  let members: readonly [string, string, string];

  beforeEach(async () => {
    host = HaproxyHost.create();
    plane = host.plane();
    await plane.start(host.handlers);
    await host.startHaproxy();
    members = [await host.member(11), await host.member(12), await host.member(13)];
    await host.serve(plane, members.slice(0, 2).map(full));
  });
  afterEach(() => host.close());

  function set(nextHops: readonly string[]): void {
    plane.setNextHops(new Map([[host.prefix, nextHops.map(full)]]));
  }

  it('is asked once for a reload that fails, serves on, and follows the pool all the while', async () => {
    const [first, second, third] = members;
    const { port } = host.vip;
    const address = host.vip.address.replace(/\d+$/, '101');
    // `haproxy -c` binds nothing: that another has the port shows when the new worker starts.
    const other = createServer().listen(port, address);
    await once(other, 'listening');
    try {
      const seen = new Set<string>();
      plane.setVips([host.vip, { address, port, machinePort: 6443 }]);
      const problems = (): string => {
        seen.add(plane.forwarding(host.prefix).join());
        return plane.status().problems.join();
      };
      await expect.poll(problems, { timeout: 15_000 }).toMatch(/did not take its configuration/);
      set([first]);
      await expect.poll(() => plane.forwarding(host.prefix)).toEqual([first]);
      await expect.poll(() => host.ask('show servers state')).not.toContain(` ${second} `);
      set([first, third]);
      await expect.poll(() => plane.forwarding(host.prefix), { timeout: 5000 }).toEqual([first, third]);
      expect([...seen]).toEqual([[first, second].join()]);
      const processes = await new RunTimeClient(host.paths.masterSocket).ask('show proc');
      expect(processes).toContain('1 [failed: 1]');
      // What is wanted is what runs again.
      plane.setVips([host.vip]);
      await expect.poll(() => plane.status().problems, { timeout: 5000 }).toEqual([]);
    } finally {
      other.close();
    }
  }, 40_000);

  it('has connections ended that a worker before a reload has to a member that leaves, and no others', async () => {
    const [first, second] = members;
    const open = async (): Promise<Map<string, Socket>> => {
      const sockets = new Map<string, Socket>();
      while (sockets.size < 2) {
        const socket = connect(host.vip.port, host.vip.address);
        await once(socket, 'connect');
        // Who has it, HAProxy knows as soon as it has connected there.
        await expect.poll(() => host.serverOf(socket)).toMatch(/^127/);
        const member = await host.serverOf(socket);
        if (sockets.has(member)) socket.destroy();
        else sockets.set(member, socket);
      }
      return sockets;
    };
    const sockets = await open();
    const address = host.vip.address.replace(/\d+$/, '102');
    const before = await host.pid();
    plane.setVips([host.vip, { address, port: host.vip.port, machinePort: 6443 }]);
    await expect.poll(() => host.pid().catch(() => before), { timeout: 10_000 }).not.toBe(before);
    await expect.poll(() => plane.differences(), { timeout: 5000 }).toEqual([]);
    const ended: string[] = [];
    for (const [member, socket] of sockets) socket.on('close', () => ended.push(member)).resume();
    set([first]);
    await expect.poll(() => ended, { timeout: 5000 }).toEqual([second]);
    sockets.get(first)?.destroy();
  }, 30_000);

  it('does everything else when it refuses one member', async () => {
    const [first, , third] = members;
    set(['fe80::1%nowhere', first, third]);
    await expect.poll(() => plane.forwarding(host.prefix), { timeout: 5000 }).toEqual([first, third]);
    expect(plane.status().problems.join()).toContain('fe80::1%nowhere');
  });

  it('is waited for when both start at a time, and keeps the members that it has', async () => {
    await plane.stop();
    await host.killHaproxy();
    const next = host.plane();
    const [found] = await Promise.all([next.start(host.handlers), host.startHaproxy()]);
    expect(found.get(host.prefix)?.map(({ nextHop }) => nextHop)).toEqual(members.slice(0, 2));
    await expect.poll(() => next.forwarding(host.prefix), { timeout: 5000 }).toEqual(members.slice(0, 2));
  });

  it('keeps the members that it has when it comes long after the router, until the pool says who serves', async () => {
    await plane.stop();
    await host.killHaproxy();
    const next = host.plane();
    const found = await next.start(host.handlers);
    expect(found.get(host.prefix)).toEqual([]);
    await host.startHaproxy();
    await expect.poll(() => next.forwarding(host.prefix), { timeout: 5000 }).toEqual(members.slice(0, 2));
    next.setNextHops(new Map([[host.prefix, [full(members[1])]]]));
    await expect.poll(() => next.forwarding(host.prefix), { timeout: 5000 }).toEqual([members[1]]);
  }, 20_000);
});
