import type { ProbeResult } from '@bgp-lb/daemon';
import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { HealthChecker, type MemberProbe } from './health-checker.ts';
import { verdictOf } from './verdict.ts';

const good: ProbeResult = { kind: 'ok', tookMs: 1, detail: 'answered 200', isVerified: true, warnings: [] };

/** A probe whose answer the test gives. */
class FakeProbe implements MemberProbe {
  started = 0;
  isClosed = false;
  #answer: (result: ProbeResult) => void = () => undefined;

  probe(): Promise<ProbeResult> {
    this.started++;
    return new Promise((resolve) => {
      this.#answer = resolve;
    });
  }

  close(): void {
    this.isClosed = true;
  }

  async answer(result: ProbeResult = good): Promise<void> {
    this.#answer(result);
    await Promise.resolve();
    await Promise.resolve();
  }
}

let clock: ManualClock;
let probes: Map<string, FakeProbe>;
let results: string[];
let checker: HealthChecker;

beforeEach(() => {
  clock = new ManualClock();
  probes = new Map();
  results = [];
  checker = new HealthChecker({
    interval: 1000,
    clock,
    probe: (vip, nextHop) => {
      const probe = new FakeProbe();
      probes.set(`${vip} ${nextHop}`, probe);
      return probe;
    },
    onResult: (vip, nextHop, { kind }) => results.push(`${vip} ${nextHop} ${kind}`),
  });
});

function probe(nextHop: string): FakeProbe {
  const found = probes.get(`vip ${nextHop}`);
  if (found === undefined) {
    throw new Error(`nobody probes ${nextHop}`);
  }
  return found;
}

describe('the health checker', () => {
  it('probes a new member at once, and then an interval after the start of the last probe', async () => {
    checker.setTargets('vip', [{ nextHop: 'a', urgency: 'normal' }]);
    expect(probe('a').started).toBe(1);
    clock.advance(300);
    await probe('a').answer();
    expect(results).toEqual(['vip a ok']);
    clock.advance(699);
    expect(probe('a').started).toBe(1);
    clock.advance(1);
    expect(probe('a').started).toBe(2);
  });

  it('never has two probes of a member at a time', async () => {
    checker.setTargets('vip', [{ nextHop: 'a', urgency: 'normal' }]);
    clock.advance(5000);
    checker.setTargets('vip', [{ nextHop: 'a', urgency: 'unclaimed' }]);
    clock.advance(5000);
    expect(probe('a').started).toBe(1);
    await probe('a').answer();
    clock.advance(0);
    expect(probe('a').started).toBe(2);
  });

  it.each(['rising', 'unclaimed'] as const)('probes every 100 ms while a member is %s', async (urgency) => {
    checker.setTargets('vip', [{ nextHop: 'a', urgency }]);
    await probe('a').answer();
    clock.advance(99);
    expect(probe('a').started).toBe(1);
    clock.advance(1);
    expect(probe('a').started).toBe(2);
  });

  it('does not wait for the end of a long interval when a member becomes unclaimed', async () => {
    checker.setTargets('vip', [{ nextHop: 'a', urgency: 'normal' }]);
    await probe('a').answer();
    clock.advance(400);
    checker.setTargets('vip', [{ nextHop: 'a', urgency: 'unclaimed' }]);
    clock.advance(0);
    expect(probe('a').started).toBe(2);
  });

  it('reports nothing of a member that is no target any more, and probes it no more', async () => {
    checker.setTargets('vip', [
      { nextHop: 'a', urgency: 'normal' },
      { nextHop: 'b', urgency: 'normal' },
    ]);
    checker.setTargets('vip', [{ nextHop: 'b', urgency: 'normal' }]);
    await probe('a').answer();
    clock.advance(10_000);
    expect(probe('a')).toMatchObject({ started: 1, isClosed: true });
    expect(results).toEqual([]);
  });

  it('keeps VIPs apart', () => {
    checker.setTargets('vip', [{ nextHop: 'a', urgency: 'normal' }]);
    checker.setTargets('other', [{ nextHop: 'a', urgency: 'normal' }]);
    checker.setTargets('other', []);
    expect(probe('a').isClosed).toBe(false);
    expect(probes.get('other a')?.isClosed).toBe(true);
  });
});

describe('the verdict on a probe', () => {
  it.each([
    ['ok', 'good'],
    ['unauthorized', 'good'],
    ['refused', 'refused'],
    ['unreachable', 'unreachable'],
    ['status', 'answered'],
    ['timeout', 'soft'],
    ['tls', 'soft'],
    ['error', 'soft'],
  ] as const)('of kind %s is %s', (kind, verdict) => {
    expect(verdictOf({ kind })).toBe(verdict);
  });
});
