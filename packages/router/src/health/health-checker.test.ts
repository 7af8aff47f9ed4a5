import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import type { ProbeResult } from '@bgp-lb/daemon';
import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { HealthChecker, type MemberProbe, probeThrough } from './health-checker.ts';
import { verdictOf } from './verdict.ts';

const good: ProbeResult = { kind: 'ok', tookMs: 1, detail: 'answered 200', isVerified: true, warnings: [] };

/** A probe whose answer the test gives. */
class FakeProbe implements MemberProbe {
  started = 0;
  isClosed = false;
  readonly isDoubted: boolean;
  #answer: (result: ProbeResult) => void = () => undefined;

  constructor(isDoubted: boolean) {
    this.isDoubted = isDoubted;
  }

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
let interval: number;

beforeEach(() => {
  clock = new ManualClock();
  probes = new Map();
  results = [];
  interval = 1000;
  checker = new HealthChecker({
    interval: () => interval,
    clock,
    probe: (vip, nextHop, isDoubted) => {
      const probe = new FakeProbe(isDoubted);
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
    await probe('a').answer({ ...good, kind: 'timeout' });
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
});

describe('a probe through a member, with a limit for its connection', () => {
  /** A socket to a host that answers no SYN. */
  class SilentSocket extends Socket {
    override connect(): this {
      Object.defineProperty(this, 'connecting', { value: true });
      return this;
    }
  }

  const through = (port: number, open: () => Socket): MemberProbe =>
    probeThrough({
      address: '127.0.0.1',
      port,
      serverName: 'kubernetes',
      path: '/readyz',
      ca: () => undefined,
      timeoutMs: 20_000,
      connectTimeoutMs: 50,
      open,
    });

  it('gives up a host that does not answer, long before the time for the whole probe', async () => {
    const { kind, tookMs } = await through(1, () => new SilentSocket()).probe();
    expect(kind).toBe('timeout');
    expect(tookMs).toBeLessThan(10_000);
  });

  it('reads the answer that has waited while this process hung', async () => {
    const server = createServer((socket) => socket.end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    const open = (): Socket => {
      process.nextTick(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200));
      return new Socket();
    };
    const { kind } = await through(typeof address === 'object' ? (address?.port ?? 0) : 0, open).probe();
    server.close();
    // It ends the connection within the handshake: that is what it is told for.
    expect(kind).toBe('error');
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
    ['shortage', undefined],
  ] as const)('of kind %s is %s', (kind, verdict) => {
    expect(verdictOf({ kind })).toBe(verdict);
  });
});
