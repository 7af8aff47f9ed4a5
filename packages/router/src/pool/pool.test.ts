import { describe, expect, it } from 'vitest';
import type { PoolEvent } from './pool-event.ts';
import { Bench, bgp, down, running, up } from './testing/pool-bench.ts';

describe('entering the pool', () => {
  it('takes no member that advertises but has not passed its health check', () => {
    expect(new Bench().announce('a').probe('a', 'good', 1).wait(10_000).weights()).toEqual({});
  });

  it('takes no member that passes but does not advertise', () => {
    const bench = new Bench().send({ type: 'session', nextHop: 'a', name: 'a', session: up });
    expect(bench.probe('a', 'good', 5).wait(10_000).weights()).toEqual({});
    expect(bench.state('a')).toBe('out: its speaker does not advertise the VIP');
  });

  it('does not count good probes that a bad one interrupts', () => {
    const bench = new Bench({ initialHold: 0 }).announce('a');
    expect(bench.probe('a', 'good', 1).probe('a', 'soft', 1).probe('a', 'good', 1).weights()).toEqual({});
    expect(bench.probe('a', 'good', 1).weights()).toEqual({ a: 256 });
  });

  it('holds the first members of an empty pool back and lets them in together', () => {
    const bench = new Bench().announce('a').probe('a', 'good', 2).wait(1900);
    expect(bench.weights()).toEqual({});
    expect(bench.state('a')).toContain('initialHold');
    bench.announce('b').probe('b', 'good', 2);
    expect(bench.weights()).toEqual({});
    expect(bench.wait(100).weights()).toEqual({ a: 256, b: 256 });
  });

  it('ends the hold as soon as all members that are known beforehand are good', () => {
    const bench = new Bench({ expected: ['a', 'b'] }).announce('a').probe('a', 'good', 2);
    expect(bench.weights()).toEqual({});
    expect(bench.announce('b').probe('b', 'good', 2).weights()).toEqual({ a: 256, b: 256 });
  });

  it('ends the hold as soon as all members of a list are good, but for those that drain', () => {
    const bench = new Bench().list('a', 'b', { name: 'c', address: 'c', draining: true });
    expect(bench.probe('a', 'good', 2).weights()).toEqual({});
    expect(bench.probe('b', 'good', 2).weights()).toEqual({ a: 256, b: 256 });
  });

  it('waits for others beside a list where they may come from a range', () => {
    const bench = new Bench({ isOpen: true }).list('a').probe('a', 'good', 2);
    expect(bench.weights()).toEqual({});
    expect(bench.wait(2000).weights()).toEqual({ a: 256 });
  });

  it('begins the hold anew when the only good member left during it', () => {
    const bench = new Bench().announce('a').probe('a', 'good', 2).wait(1500);
    bench.send({ type: 'withdrawn', nextHop: 'a', reason: 'withdrawn' }).wait(5000);
    bench.announce('b').probe('b', 'good', 2).wait(1000);
    expect(bench.weights()).toEqual({});
    expect(bench.wait(1000).weights()).toEqual({ b: 256 });
  });

  it('holds nobody back from a pool that has members', () => {
    expect(running('a').announce('b').probe('b', 'good', 2).weights()).toEqual({ a: 256, b: 256 });
  });
});

describe('what a speaker asks for', () => {
  it('gives the full share back a second after a member last asked for less, however often it changes its mind', () => {
    const bench = running('a', 'b');
    for (let i = 0; i < 50; i++) {
      bench.announce('a', 'last-resort').announce('a');
      expect(bench.weights()).toEqual({ a: 1, b: 256 });
      bench.wait(20);
    }
    expect(bench.state('a')).toBe('last-resort: its speaker asked for less a moment ago');
    expect(bench.wait(979).weights()).toEqual({ a: 1, b: 256 });
    expect(bench.wait(1).weights()).toEqual({ a: 256, b: 256 });
  });

  it.each(['last-resort', 'draining'] as const)('gives weight 1 to a member that is %s', (intent) => {
    const bench = running('a', 'b').announce('a', intent);
    expect(bench.weights()).toEqual({ a: 1, b: 256 });
    expect(bench.state('a')).toContain(intent);
  });

  it('gives the full share again when the speaker asks for it', () => {
    expect(running('a', 'b').announce('a', 'draining').wait(1000).announce('a').weights()).toEqual({
      a: 256,
      b: 256,
    });
  });
});

describe('failing health', () => {
  it('keeps a member until fall probes in a row have failed', () => {
    const bench = running('a', 'b').probe('a', 'refused', 2);
    expect(bench.weights()).toEqual({ a: 256, b: 256 });
    expect(bench.probe('a', 'refused', 1).weights()).toEqual({ b: 256 });
  });

  it('gives weight 1 to a soft failure and moves it out after evictAfter', () => {
    const bench = running('a', 'b', 'c').probe('a', 'soft', 3);
    expect(bench.weights()).toEqual({ a: 1, b: 256, c: 256 });
    expect(bench.wait(14_999).weights()).toEqual({ a: 1, b: 256, c: 256 });
    expect(bench.wait(1).weights()).toEqual({ b: 256, c: 256 });
  });

  it('takes a member back after rise good probes, not before', () => {
    const bench = running('a', 'b').probe('a', 'refused', 3).probe('a', 'good', 1);
    expect(bench.weights()).toEqual({ b: 256 });
    expect(bench.probe('a', 'good', 1).weights()).toEqual({ a: 256, b: 256 });
  });

  it('does not take a refused member back because it now fails more mildly', () => {
    expect(running('a', 'b').probe('a', 'refused', 3).probe('a', 'soft', 5).weights()).toEqual({ b: 256 });
  });

  it('turns a soft failure into a hard one when the port closes', () => {
    const bench = running('a', 'b', 'c').probe('a', 'soft', 3).probe('a', 'refused', 2);
    expect(bench.weights()).toEqual({ a: 1, b: 256, c: 256 });
    expect(bench.probe('a', 'refused', 1).weights()).toEqual({ b: 256, c: 256 });
  });

  it('moves no draining member out for a soft failure: its speaker sets the limit', () => {
    const bench = running('a', 'b', 'c').announce('a', 'draining').probe('a', 'soft', 3).wait(60_000);
    expect(bench.weights()).toEqual({ a: 1, b: 256, c: 256 });
  });
});

describe('the panic threshold', () => {
  it('keeps every member with its full share when all fail softly', () => {
    const bench = running('a', 'b', 'c');
    for (const member of ['a', 'b', 'c']) {
      bench.probe(member, 'soft', 3);
    }
    expect(bench.wait(60_000).weights()).toEqual({ a: 256, b: 256, c: 256 });
  });

  it('uses all members, not the last good one, below the threshold', () => {
    const bench = running('a', 'b', 'c').probe('a', 'soft', 3).wait(20_000);
    expect(bench.weights()).toEqual({ b: 256, c: 256 });
    expect(bench.probe('b', 'unreachable', 3).weights()).toEqual({ a: 256, b: 256, c: 256 });
  });

  it('gives those that recover last their own time when all had failed together', () => {
    const bench = running('a', 'b', 'c');
    for (const member of ['a', 'b', 'c']) {
      bench.probe(member, 'soft', 3);
    }
    bench.wait(30_000).probe('a', 'good', 2).probe('b', 'good', 2);
    expect(bench.weights()).toEqual({ a: 256, b: 256, c: 1 });
    expect(bench.wait(14_999).weights()).toEqual({ a: 256, b: 256, c: 1 });
    expect(bench.wait(1).weights()).toEqual({ a: 256, b: 256 });
  });

  it('never overrules a refused connection', () => {
    const bench = running('a', 'b', 'c').probe('a', 'refused', 3).probe('b', 'refused', 3);
    expect(bench.weights()).toEqual({ c: 256 });
    expect(bench.probe('c', 'refused', 3).weights()).toEqual({});
  });

  it('never overrules a withdrawal', () => {
    const bench = running('a', 'b', 'c').send({ type: 'withdrawn', nextHop: 'a', reason: 'withdrawn' });
    expect(bench.probe('b', 'soft', 3).probe('c', 'soft', 3).weights()).toEqual({ b: 256, c: 256 });
  });

  it('never lets in a member that has not passed yet', () => {
    const bench = running('a').announce('b').probe('b', 'soft', 3).probe('a', 'soft', 3);
    expect(bench.weights()).toEqual({ a: 256 });
  });
});

describe('a lost session', () => {
  it('keeps a member whose process died while it answers', () => {
    const bench = running('a', 'b').send({ type: 'stale', nextHop: 'a', reason: 'TCP closed' });
    expect(bench.probe('a', 'good', 1).wait(10_000).weights()).toEqual({ a: 256, b: 256 });
    expect(bench.state('a')).toBe('stale: TCP closed');
    expect(bench.pool.probes()[0]).toEqual({ nextHop: 'a', urgency: 'unclaimed' });
  });

  it('removes a stale member after two failed probes', () => {
    const bench = running('a', 'b').send({ type: 'stale', nextHop: 'a', reason: 'TCP closed' });
    expect(bench.probe('a', 'soft', 1).weights()).toEqual({ a: 256, b: 256 });
    expect(bench.probe('a', 'soft', 1).weights()).toEqual({ b: 256 });
    expect(bench.state('a')).toBe('out: TCP closed; then 2 probes failed: soft');
  });

  it('counts only probes from after the session was lost', () => {
    const bench = running('a', 'b').probe('a', 'soft', 2);
    bench.send({ type: 'stale', nextHop: 'a', reason: 'TCP closed' }).probe('a', 'soft', 1);
    expect(bench.weights()).toEqual({ a: 256, b: 256 });
  });

  it('does not begin to use a member that was out when its session was lost', () => {
    const bench = running('a', 'b', 'c').probe('a', 'refused', 3);
    expect(bench.send({ type: 'stale', nextHop: 'a', reason: 'TCP closed' }).weights()).toEqual({
      b: 256,
      c: 256,
    });
  });

  it('removes a member at once when its path is withdrawn, and asks for a new pass', () => {
    const bench = running('a', 'b').send({
      type: 'withdrawn',
      nextHop: 'a',
      reason: 'hold timer expired',
    });
    expect(bench.weights()).toEqual({ b: 256 });
    expect(bench.state('a')).toBe('out: hold timer expired');
    expect(bench.announce('a').probe('a', 'good', 1).weights()).toEqual({ b: 256 });
    expect(bench.probe('a', 'good', 1).weights()).toEqual({ a: 256, b: 256 });
  });

  it('needs no new pass when a stale member comes back', () => {
    const bench = running('a', 'b').send({ type: 'stale', nextHop: 'a', reason: 'TCP closed' });
    expect(bench.announce('a').weights()).toEqual({ a: 256, b: 256 });
    expect(bench.state('a')).toBe('active: ');
  });
});

describe('adoption after a restart', () => {
  const adopted: PoolEvent = {
    type: 'adopted',
    members: [
      { nextHop: 'a', weight: 256 },
      { nextHop: 'b', weight: 1 },
    ],
  };

  it('keeps what the kernel has, with its weights, from the first moment', () => {
    const bench = new Bench().send(adopted);
    expect(bench.weights()).toEqual({ a: 256, b: 1 });
    expect(bench.state('a')).toContain('waiting for its speaker');
  });

  it('removes a member after two failed probes', () => {
    expect(new Bench().send(adopted).probe('a', 'refused', 2).weights()).toEqual({ b: 1 });
  });

  it('sweeps a member that its speaker did not claim within staleTime', () => {
    const bench = new Bench().send(adopted).announce('b').wait(59_999);
    expect(bench.weights()).toEqual({ a: 256, b: 256 });
    expect(bench.wait(1).weights()).toEqual({ b: 256 });
  });

  it('removes a member whose speaker is back and does not advertise', () => {
    const bench = new Bench().send(adopted);
    bench.send({ type: 'session', nextHop: 'a', name: 'a', session: up });
    expect(bench.weights()).toEqual({ a: 256, b: 1 });
    expect(bench.send({ type: 'complete', nextHop: 'a' }).weights()).toEqual({ b: 1 });
  });

  it('keeps a claimed member without a new pass, and its health counts as before', () => {
    const bench = new Bench().send(adopted).announce('a').announce('b');
    expect(bench.weights()).toEqual({ a: 256, b: 256 });
    expect(bench.probe('a', 'refused', 3).weights()).toEqual({ b: 256 });
  });
});

describe('transitions', () => {
  it('are returned once each, with both states and the reason', () => {
    const bench = running('a', 'b');
    const gone = bench.pool.handle(
      { type: 'withdrawn', source: bgp, nextHop: 'a', reason: 'Cease' },
      bench.now,
    );
    expect(gone).toEqual([
      { member: 'a', nextHop: 'a', from: 'active', to: 'out', weight: 0, reason: 'Cease' },
    ]);
    expect(bench.pool.handle({ type: 'tick' }, bench.now)).toEqual([]);
  });
});

describe('what a pool remembers', () => {
  it('has a bound, whoever comes and goes: those longest out are forgotten, those in use and those with a session never', () => {
    const bench = running('a', 'b');
    bench.send({ type: 'session', nextHop: 'idle', name: 'idle', session: up });
    for (let n = 0; n < 300; n++) {
      const nextHop = `10.9.${n >> 8}.${n & 255}`;
      bench.announce(nextHop).send({ type: 'withdrawn', nextHop, reason: 'Cease' });
      bench.send({ type: 'session', nextHop, name: nextHop, session: down });
      bench.now += 1;
    }
    const names = bench.pool.members().map(({ nextHop }) => nextHop);
    expect(names).toHaveLength(128);
    expect(names).toEqual(expect.arrayContaining(['a', 'b', 'idle', '10.9.1.43']));
    expect(names).not.toContain('10.9.0.0');
    expect(bench.weights()).toEqual({ a: 256, b: 256 });
  });
});
