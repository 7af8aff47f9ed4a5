import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { HealthChecker } from './health-checker.ts';
import type { MemberProbe, ProbeReport } from './member-probe.ts';

const good: ProbeReport = { verdict: 'good', result: 'ok', tookMs: 1, detail: 'answered 200', warnings: [] };

/** A probe whose answer the test gives. */
class FakeProbe implements MemberProbe {
  readonly kind = 'fake';
  started = 0;
  isClosed = false;
  readonly isDoubted: boolean;
  #answer: (result: ProbeReport) => void = () => undefined;

  constructor(isDoubted: boolean) {
    this.isDoubted = isDoubted;
  }

  probe(): Promise<ProbeReport> {
    this.started++;
    return new Promise((resolve) => {
      this.#answer = resolve;
    });
  }

  close(): void {
    this.isClosed = true;
  }

  async answer(result: ProbeReport = good): Promise<void> {
    this.#answer(result);
    await Promise.resolve();
    await Promise.resolve();
  }
}

let clock: ManualClock;
let probes: Map<string, FakeProbe>;
let results: string[];
let checker: HealthChecker;
let interval: number;

beforeEach(() => {
  clock = new ManualClock();
  probes = new Map();
  results = [];
  interval = 1000;
  checker = new HealthChecker({
    interval: () => interval,
    clock,
    probe: (vip, { nextHop }, isDoubted) => {
      const probe = new FakeProbe(isDoubted);
      probes.set(`${vip} ${nextHop}`, probe);
      return probe;
    },
    onResult: (vip, nextHop, { result }) => results.push(`${vip} ${nextHop} ${result}`),
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
  it('probes in another way after a restart: what runs counts no more, and the new pace holds', async () => {
    checker.setTargets('vip', [{ nextHop: 'a', urgency: 'normal' }]);
    const old = probe('a');
    interval = 5000;
    checker.restart();
    expect(old.isClosed).toBe(true);
    await old.answer();
    expect(results).toEqual([]);
    checker.setTargets('vip', [{ nextHop: 'a', urgency: 'normal' }]);
    expect(probe('a')).not.toBe(old);
    const fresh = probe('a');
    expect(fresh.started).toBe(1);
    await fresh.answer();
    clock.advance(4999);
    expect(fresh.started).toBe(1);
    clock.advance(1);
    expect(fresh.started).toBe(2);
    expect(results).toEqual(['vip a ok']);
  });

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

  it('drops the probe that runs when its member is doubted, and asks at once with a limit for the connection', async () => {
    checker.setTargets('vip', [{ nextHop: 'a', urgency: 'normal' }]);
    const before = probe('a');
    clock.advance(300);
    checker.setTargets('vip', [{ nextHop: 'a', urgency: 'doubted' }]);
    expect(before).toMatchObject({ isClosed: true, isDoubted: false });
    expect(probe('a')).toMatchObject({ started: 1, isDoubted: true });
    await before.answer();
    expect(results).toEqual([]);
    await probe('a').answer({ ...good, result: 'timeout' });
    expect(results).toEqual(['vip a timeout']);
    clock.advance(99);
    expect(probe('a').started).toBe(1);
    clock.advance(1);
    expect(probe('a').started).toBe(2);
  });

  it('probes as before when a member is doubted no more', async () => {
    checker.setTargets('vip', [{ nextHop: 'a', urgency: 'doubted' }]);
    await probe('a').answer();
    checker.setTargets('vip', [{ nextHop: 'a', urgency: 'normal' }]);
    expect(probe('a')).toMatchObject({ started: 0, isDoubted: false });
    clock.advance(1000);
    expect(probe('a').started).toBe(1);
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

  it('begins with a probe of another port when the member has one', () => {
    checker.setTargets('vip', [{ nextHop: 'a', urgency: 'normal' }]);
    const before = probe('a');
    checker.setTargets('vip', [{ nextHop: 'a', urgency: 'normal' }]);
    expect(probe('a')).toBe(before);
    checker.setTargets('vip', [{ nextHop: 'a', port: 7443, urgency: 'normal' }]);
    expect(before.isClosed).toBe(true);
    expect(probe('a').started).toBe(1);
  });
});
