import { beforeEach, describe, expect, it } from 'vitest';
import type { ProbeReport } from '../health/member-probe.ts';
import { Pool } from '../pool/pool.ts';
import { PoolController } from '../pool/pool-controller.ts';
import { settings } from '../pool/testing/pool-bench.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import type { MembershipSource } from './membership-source.ts';
import { MembershipSources } from './membership-sources.ts';
import { MemoryList, MemorySessions } from './testing/memory-membership.ts';

const VIP = '10.100.0.1/32';
const [A, B] = ['10.0.0.11', '10.0.0.12'] as const;
const listed = (address: string, more: object = {}) => ({ name: address, address, draining: false, ...more });

describe('several sources together', () => {
  let clock: ManualClock;
  let speakers: MemorySessions;
  let list: MemoryList;
  let other: MemoryList;
  let sources: MembershipSources;
  let pool: Pool;
  let controller: PoolController;

  beforeEach(async () => {
    clock = new ManualClock();
    speakers = new MemorySessions([VIP]);
    list = new MemoryList('static', VIP);
    other = new MemoryList('configMap', VIP);
    pool = new Pool(VIP, { ...settings, initialHold: 0 });
    controller = new PoolController({
      pools: new Map([[VIP, pool]]),
      dataPlane: { setNextHops: () => undefined },
      clock,
      setTargets: () => undefined,
      onChanged: () => undefined,
      onTransition: () => undefined,
    });
    sources = new MembershipSources([speakers, list, other]);
    await sources.start((events) => controller.membership(events));
  });

  function probe(nextHop: string, verdict: 'good' | 'soft' = 'good', times = settings.rise): void {
    const result: ProbeReport = { verdict, result: verdict, tookMs: 1, detail: verdict, warnings: [] };
    for (let i = 0; i < times; i++) controller.probed(VIP, nextHop, result);
  }

  const weights = (): Record<string, number> =>
    Object.fromEntries(pool.nextHops().map(({ nextHop, weight }) => [nextHop, weight]));
  const member = (nextHop: string) => pool.members().find((one) => one.nextHop === nextHop);

  it('use a member that one of them lists and none has a session with, by its health, and say so', () => {
    list.write([listed(A, { name: 'm1', zone: 'a' })]);
    expect(weights()).toEqual({});
    probe(A);
    expect(weights()).toEqual({ [A]: 256 });
    expect(member(A)).toMatchObject({
      name: 'm1',
      zone: 'a',
      state: 'active',
      session: 'none',
      reason: 'listed by static; no session: judged by health alone',
      sources: [{ kind: 'static', name: '', says: 'listed' }],
    });
    expect(member(A)?.gates.every(({ pass }) => pass)).toBe(true);
    probe(A, 'soft', settings.fall);
    clock.advance(settings.evictAfter);
    expect(member(A)?.health).toBe('failing');
  });

  it.each<[string, () => void, () => void]>([
    ['a list, of what another list has', () => other.write([listed(A)]), () => list.write([])],
    ['a list, of what announces itself', () => speakers.join(A, [VIP]), () => list.write([])],
    [
      'a session whose path was kept long enough, of what is listed',
      () => speakers.join(A, [VIP]),
      () => {
        speakers.die(A);
        speakers.sweep(A);
      },
    ],
  ])('take back nothing that another one claims: %s', (_what, claimToo, takeBack) => {
    list.write([listed(A)]);
    claimToo();
    probe(A);
    expect(member(A)?.sources).toHaveLength(2);
    takeBack();
    expect(weights()).toEqual({ [A]: 256 });
    list.write([]);
    other.write([]);
    speakers.leave(A);
    expect(weights()).toEqual({});
  });

  it('let what a member says go before what a list says of it', () => {
    list.write([listed(A), listed(B)]);
    probe(A);
    probe(B);
    speakers.join(A, [VIP]);
    expect(member(A)?.reason).toBe('');
    speakers.announce(A, VIP, 'last-resort');
    expect(weights()).toEqual({ [A]: 1, [B]: 256 });
    speakers.withdraw(A, VIP, 'withdrawn by its speaker');
    expect(weights()).toEqual({ [B]: 256 });
    expect(member(A)).toMatchObject({
      reason: 'withdrawn by its speaker',
      sources: [
        { kind: 'static', name: '', says: 'listed' },
        { kind: 'memory', name: '', says: 'session up, not announced' },
      ],
    });
    probe(A);
    expect(weights()).toEqual({ [B]: 256 });
    // Who is silent says nothing: the list counts, and its health.
    speakers.leave(A);
    expect(weights()).toEqual({ [B]: 256 });
    probe(A);
    // It asked for less, and left, a moment ago.
    clock.advance(settings.flapHold);
    expect(weights()).toEqual({ [A]: 256, [B]: 256 });
  });

  it('do not use one whose speaker is there, has told all and does not announce the VIP, whoever lists it', () => {
    list.write([listed(A)]);
    probe(A);
    speakers.join(A, []);
    expect(weights()).toEqual({});
    expect(member(A)?.reason).toBe('its speaker does not advertise the VIP');
  });

  it('drain one that announces itself when a list says so', () => {
    speakers.join(A, [VIP]);
    speakers.join(B, [VIP]);
    probe(A);
    probe(B);
    list.write([listed(A, { draining: true })]);
    expect(weights()).toEqual({ [A]: 1, [B]: 256 });
    expect(member(A)).toMatchObject({ state: 'draining', reason: 'static says that it drains' });
    list.write([]);
    clock.advance(1000);
    expect(weights()).toEqual({ [A]: 256, [B]: 256 });
  });

  it('take out a member whose host BFD says is dead, whoever lists it, until its health is proven again', () => {
    list.write([listed(A), listed(B)]);
    speakers.join(A, [VIP]);
    probe(A);
    probe(B);
    sources.hostsDead({ addresses: [A], doubtful: new Set(), window: 900 });
    expect(weights()).toEqual({ [B]: 256 });
    expect(member(A)?.reason).toMatch(/^said to be dead; not passed its health check since/);
    probe(A);
    expect(weights()).toEqual({ [A]: 256, [B]: 256 });
    expect(member(A)?.reason).toMatch(/judged by health alone/);
  });

  it('wait for BFD where a member must have it, whoever lists it', () => {
    list.write([listed(A)]);
    sources.bfdRequired(A, false);
    probe(A);
    expect(weights()).toEqual({});
    sources.bfdRequired(A, true);
    expect(weights()).toEqual({ [A]: 256 });
  });

  it('forget nothing of a member whose session ended by a failure: probed as one that nobody vouches for, then by its health', () => {
    list.write([listed(A), listed(B)]);
    speakers.join(A, [VIP]);
    probe(A);
    probe(B);
    speakers.die(A);
    expect(pool.probes()[0]).toEqual({ nextHop: A, urgency: 'unclaimed' });
    probe(A, 'soft', 2);
    expect(weights()).toEqual({ [B]: 256 });
    probe(A);
    expect(weights()).toEqual({ [A]: 256, [B]: 256 });
  });

  it('have a member that was found in the kernel proven by its health where it is listed, without a gap', () => {
    controller.adopt(VIP, [{ nextHop: A, weight: 256 }]);
    list.write([listed(A)]);
    expect(member(A)).toMatchObject({ state: 'stale', weight: 256 });
    probe(A);
    expect(member(A)).toMatchObject({ state: 'active', weight: 256 });
    clock.advance(settings.staleTime);
    expect(weights()).toEqual({ [A]: 256 });
  });

  it('have the port that a list says, and what listens there must prove itself', () => {
    list.write([listed(A, { port: 7443 })]);
    probe(A);
    expect(pool.nextHops()).toEqual([{ nextHop: A, port: 7443, weight: 256 }]);
    list.write([listed(A, { port: 8443 })]);
    expect(weights()).toEqual({});
    expect(pool.probes()).toEqual([{ nextHop: A, port: 8443, urgency: 'rising' }]);
    probe(A);
    expect(pool.nextHops()).toEqual([{ nextHop: A, port: 8443, weight: 256 }]);
  });

  it('have one list each for a VIP, by whatever name', () => {
    const say = (nextHop: string, name: string) =>
      controller.membership([
        { type: 'listed', source: { kind: 'configMap', name }, vip: VIP, members: [listed(nextHop)] },
      ]);
    say(A, 'blue');
    say(B, 'green');
    probe(A);
    probe(B);
    expect(weights()).toEqual({ [B]: 256 });
    expect(member(B)?.sources).toEqual([{ kind: 'configMap', name: 'green', says: 'listed' }]);
  });

  it('are each told of another configuration, and all end, also when one of them cannot', async () => {
    const log: string[] = [];
    const source = (kind: string): MembershipSource => ({
      kind,
      standing: () => [],
      start: async () => undefined,
      configure: ({ asn }) => log.push(`${kind} ${asn}`),
      stop: async () => {
        log.push(`${kind} stops`);
        throw new Error(`${kind} hangs`);
      },
    });
    const both = new MembershipSources([source('one'), source('two')]);
    both.configure({ asn: 64512 } as Parameters<typeof both.configure>[0]);
    await expect(both.stop()).rejects.toThrow('one hangs');
    expect(log).toEqual(['one 64512', 'two 64512', 'one stops', 'two stops']);
  });
});
