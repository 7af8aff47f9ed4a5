import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClientJudge } from './client-judge.ts';
import { type Sent, SimulatedClients } from './testing/simulated-clients.ts';

const MEMBERS = ['a', 'b', 'c'];

describe('what becomes of the clients of a VIP', () => {
  it('is that they are served, with the share that the word rests on', () => {
    const clients = new SimulatedClients(MEMBERS);
    clients.look({ a: [10, 10], b: [10, 10], c: [10, 9] });
    expect(clients.look()).toMatchObject({
      cause: 'served',
      text: '29 of 30 connections of clients were established within 2 s',
      arrived: 30,
      sent: 30,
      followed: 30,
      established: 29,
      members: [
        { nextHop: 'a', sent: 10, followed: 10, established: 10 },
        { nextHop: 'b' },
        { nextHop: 'c' },
      ],
    });
  });

  it('is told apart: dropped on this host, unanswered by all members, and nothing arrives', () => {
    const dropped = new SimulatedClients(MEMBERS);
    expect(dropped.look({}, { lost: 16 })).toMatchObject({
      cause: 'dropped-here',
      text: '0 of 16 SYNs that came by eth1 within 1 s left this host: it drops the others',
    });
    const unanswered = new SimulatedClients(MEMBERS);
    unanswered.look({ a: [6, 0], b: [6, 0], c: [6, 0] });
    expect(unanswered.look()).toMatchObject({
      cause: 'unanswered',
      text: expect.stringContaining('0 of 18 connections of clients were established'),
    });
    const silent = new SimulatedClients(MEMBERS);
    for (let i = 0; i < 40; i++) silent.look();
    expect(silent.look()).toMatchObject({
      cause: 'silent',
      text: 'no SYN of a client has arrived for 82 s',
    });
  });

  it('is not concluded from a few', () => {
    const clients = new SimulatedClients(MEMBERS);
    clients.look({ a: [3, 0] }, { lost: 7 });
    expect(clients.look().cause).toBe('too-few');
    expect(clients.doubted).toEqual([]);
  });

  it('is not concluded from connections that have only begun: a burst just before a look', () => {
    const clients = new SimulatedClients(MEMBERS);
    expect(clients.look({ a: [50, 0], b: [50, 0], c: [50, 0] }).cause).not.toBe('unanswered');
    expect(clients.look({ a: [0, 50], b: [0, 50], c: [0, 50] }).cause).toBe('served');
    expect(clients.doubted).toEqual([]);
  });

  it('is not concluded in a flood, of which most are not followed', () => {
    const clients = new SimulatedClients(MEMBERS);
    clients.look({ a: [300, 0], b: [300, 0], c: [400, 2] }, { unfollowed: 200_000 });
    expect(clients.look().cause).toBe('too-many');
    expect(clients.doubted).toEqual([]);
  });

  it('is not concluded from what was counted before the first look: the router was started again', () => {
    const judge = new ClientJudge(0);
    const old = { vip: '10.100.0.1', packets: 5000 };
    const before = { arrived: [{ ...old, uplink: 'eth1' }], sent: [], followed: [], established: [] };
    for (const now of [2000, 4000]) {
      const { cause, arrived, news } = judge.judge(before, MEMBERS, 0.5, now);
      expect({ cause, arrived, new: news.arrived }).toEqual({ cause: 'silent', arrived: 0, new: 0 });
    }
  });

  it('is not concluded from SYNs that came while there was no member', () => {
    const clients = new SimulatedClients([]);
    for (let i = 0; i < 5; i++) clients.look({}, { lost: 100 });
    clients.members = MEMBERS;
    // Some of them came before the first member, between two looks.
    expect(clients.look({}, { lost: 20 })).toMatchObject({ cause: 'silent', arrived: 0 });
    expect(clients.look({ a: [20, 20] }).cause).not.toBe('dropped-here');
    expect(clients.look()).toMatchObject({ cause: 'served', arrived: 20 });
    expect(clients.look({}, { lost: 20 }).cause).toBe('dropped-here');
  });

  it('goes back to served with the next connections that are', () => {
    const clients = new SimulatedClients(MEMBERS);
    clients.look({}, { lost: 100 });
    clients.look({ a: [10, 10], b: [10, 10] });
    expect(clients.look().cause).toBe('served');
  });

  it('goes on when the counters begin anew', () => {
    const clients = new SimulatedClients(MEMBERS);
    clients.look({ a: [1000, 1000] });
    clients.reset();
    clients.look({ a: [20, 20] });
    expect(clients.look()).toMatchObject({ cause: 'served', followed: 20, established: 20 });
  });
});

describe('a member that clients are not served by', () => {
  /** As it was seen with a strict rp_filter on a second uplink of one of three masters. */
  const seen: Sent = { a: [27, 27], b: [26, 26], c: [27, 0] };

  it('is doubted, with the shares', () => {
    const clients = new SimulatedClients(MEMBERS);
    clients.look(seen);
    clients.look();
    expect(clients.doubted).toEqual(['c']);
    expect(clients.why('c')).toBe(
      'clients established 0 of 27 connections with it, and 53 of 53 with the others',
    );
  });

  it('has another chance after a minute, after two the next time, and never waits longer than ten', () => {
    const clients = new SimulatedClients(MEMBERS);
    const waits: number[] = [];
    for (let i = 0; i < 6; i++) {
      while (clients.doubted.length === 0) clients.look(seen);
      const since = clients.now;
      while (clients.doubted.length > 0) clients.look({ a: [5, 5], b: [5, 5] });
      waits.push(clients.now - since);
    }
    expect(waits).toEqual([60_000, 120_000, 240_000, 480_000, 600_000, 600_000]);
  });

  it('is believed at once when its clients are served again', () => {
    const clients = new SimulatedClients(MEMBERS);
    clients.look(seen);
    clients.look();
    clients.look({ a: [20, 20], b: [20, 20], c: [20, 20] });
    clients.look();
    expect(clients.doubted).toEqual([]);
  });

  it.each([
    ['for a while', 1],
    ['between two looks', 0],
  ])('is not doubted for what it could not answer while it was dead: out %s', (_, looksWithout) => {
    const clients = new SimulatedClients(MEMBERS);
    clients.forward(MEMBERS);
    for (let i = 0; i < 3; i++) clients.look({ a: [30, 30], b: [30, 30], c: [30, 30] });
    // Its host dies 0.9 s before BFD says so.
    clients.forward(['a', 'b']);
    for (let i = 0; i < looksWithout; i++) clients.look({ a: [30, 30], b: [30, 30], c: [20, 0] });
    clients.forward(MEMBERS, 100);
    clients.look({ a: [30, 30], b: [30, 30], c: looksWithout === 0 ? [20, 0] : [0, 0] });
    for (let i = 0; i < 3; i++) {
      clients.look({ a: [2, 2], b: [2, 2], c: [2, 2] });
      expect(clients.doubted).toEqual([]);
    }
    clients.look({ a: [30, 30], b: [30, 30], c: [30, 0] });
    clients.look();
    expect(clients.doubted).toEqual(['c']);
  });

  it('is not doubted for what happens to all of them: spoofed SYNs, a scan', () => {
    const clients = new SimulatedClients(MEMBERS);
    for (let i = 0; i < 100; i++) clients.look({ a: [100, 2], b: [100, 2], c: [100, 1] });
    expect(clients.doubted).toEqual([]);
  });
});

describe('doubts', () => {
  const members = fc.integer({ min: 1, max: 8 }).map((n) => Array.from({ length: n }, (_, i) => `m${i}`));
  const pair = fc.tuple(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 0, max: 500 }));
  const looks = fc.array(
    fc.record({
      of: fc.array(pair, { minLength: 8, maxLength: 8 }),
      lost: fc.integer({ min: 0, max: 1000 }),
      unfollowed: fc.integer({ min: 0, max: 100_000 }),
    }),
    { maxLength: 60 },
  );

  it('never reach so many that less than the panic threshold is left, one at a time, whatever clients send', () => {
    fc.assert(
      fc.property(members, fc.double({ min: 0, max: 1, noNaN: true }), looks, (names, threshold, all) => {
        const clients = new SimulatedClients(names, threshold);
        let lastNew = Number.NEGATIVE_INFINITY;
        for (const { of, ...more } of all) {
          const before = new Set(clients.doubted);
          clients.look(Object.fromEntries(names.map((name, i) => [name, of[i] ?? [0, 0]])), more);
          const left = names.length - clients.doubted.length;
          expect(left).toBeGreaterThanOrEqual(Math.max(1, threshold * names.length - 1e-9));
          const added = clients.doubted.filter((name) => !before.has(name));
          expect(added.length).toBeLessThanOrEqual(1);
          if (added.length === 1) {
            expect(clients.now - lastNew).toBeGreaterThanOrEqual(10_000);
            lastNew = clients.now;
          }
        }
      }),
    );
  });

  it('fall on nobody while all members do alike', () => {
    const share = fc.double({ min: 0.15, max: 1, noNaN: true });
    const counts = fc.array(fc.integer({ min: 0, max: 2000 }), { minLength: 30, maxLength: 30 });
    fc.assert(
      fc.property(members, share, counts, (names, part, all) => {
        const clients = new SimulatedClients(names);
        for (const count of all) {
          const established = Math.round(count * part);
          clients.look(Object.fromEntries(names.map((name) => [name, [count, established] as const])));
          expect(clients.doubted).toEqual([]);
        }
      }),
    );
  });
});
