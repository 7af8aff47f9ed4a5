import { describe, expect, it } from 'vitest';
import { Bench, running, settings, up } from './testing/pool-bench.ts';

describe('a pool that is given other settings', () => {
  it('judges the members that it has by them', () => {
    const bench = running('a', 'b', 'c');
    bench.probe('a', 'soft', 2);
    expect(bench.weights()['a']).toBe(256);
    bench.pool.setSettings({ ...settings, fall: 2, evictAfter: 1000 });
    bench.probe('a', 'soft', 1);
    expect(bench.weights()['a']).toBe(1);
    bench.wait(1000);
    expect(bench.weights()).toEqual({ b: 256, c: 256 });
    bench.pool.setSettings({ ...settings, rise: 1, flapHold: 0 });
    expect(bench.probe('a', 'good', 1).weights()).toEqual({ a: 256, b: 256, c: 256 });
  });

  it('begins to move out who has failed for longer than is allowed now', () => {
    const bench = running('a', 'b', 'c').probe('a', 'soft', 3).wait(5000);
    expect(bench.weights()['a']).toBe(1);
    bench.pool.setSettings({ ...settings, evictAfter: 4000 });
    expect(bench.send({ type: 'tick' }).weights()).toEqual({ b: 256, c: 256 });
  });

  it('follow a list whatever the session of a member is silent of, where speakers are not asked, and as soon as they are not', () => {
    const bench = new Bench({ initialHold: 0, hearsSpeakers: false });
    bench.send({ type: 'session', nextHop: 'a', name: 'a', session: up });
    bench.send({ type: 'complete', nextHop: 'a' });
    bench.list('a').probe('a', 'good', 2);
    expect(bench.weights()).toEqual({ a: 256 });
    bench.pool.setSettings({ ...settings, hearsSpeakers: true });
    expect(bench.wait(0).weights()).toEqual({});
    bench.pool.setSettings({ ...settings, hearsSpeakers: false, initialHold: 0 });
    expect(bench.probe('a', 'good', 2).wait(10_000).weights()).toEqual({ a: 256 });
  });

  it('knows by them who is to be there', () => {
    const bench = running();
    bench.pool.setSettings({ ...settings, expected: ['a', 'b'], initialHold: 60_000 });
    bench.announce('a').probe('a', 'good', 2).wait(5000);
    expect(bench.weights()).toEqual({});
    expect(bench.announce('b').probe('b', 'good', 2).weights()).toEqual({ a: 256, b: 256 });
  });
});
