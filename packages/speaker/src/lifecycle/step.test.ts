import { describe, expect, it } from 'vitest';
import { type DrainRequest, drainPace, type LifecycleInput } from './lifecycle-input.ts';
import { type Decision, step } from './step.ts';
import { desiredOf, type VipState } from './vip-state.ts';

const times = { drainTimeout: 60_000, ...drainPace };

const absent: VipState = { name: 'absent' };
const localOnly: VipState = { name: 'local-only' };
const advertised: VipState = { name: 'advertised' };
const lastResort: VipState = { name: 'last-resort' };
const draining: VipState = { name: 'draining', startedAt: 0, closing: undefined, withdrawnAt: undefined };
const early = { at: 100, isEarly: true, why: 'no client' };
const late = { at: 100, isEarly: false, why: 'time is up' };
const closing: VipState = { ...draining, closing: late };
const withdrawn: VipState = { ...closing, withdrawnAt: 2_000 };

const byFile: DrainRequest = { by: 'drain file', isForced: true };

/** A proven joiner whose API server is ready and whose VIP answers on this host. */
const healthy: LifecycleInput = {
  role: 'join',
  bootstrap: 'proven',
  bootstrapDetail: 'bootstrap detail',
  readiness: 'ready',
  readinessDetail: 'readiness detail',
  isPortClosed: false,
  drain: undefined,
  isHurried: false,
  clients: undefined,
  others: 2,
  isHeld: false,
  haveMovedOn: false,
  bindCheck: 'passed',
  bindCheckDetail: 'bind check detail',
  hasAdvertised: false,
};

function decide(state: VipState, changes: Partial<LifecycleInput>, now = 0): Decision {
  return step(state, { ...healthy, ...changes }, times, now);
}

function nameAfter(state: VipState, changes: Partial<LifecycleInput>, now = 0): string {
  return decide(state, changes, now).state.name;
}

describe('the columns of the state table', () => {
  it.each([
    [absent, false, 'none', 'none'],
    [localOnly, true, 'none', 'none'],
    [advertised, true, 'normal', 'none'],
    [lastResort, true, 'last-resort', 'none'],
    [draining, true, 'draining', 'refusals'],
    [closing, true, 'draining', 'newcomers'],
    [withdrawn, true, 'none', 'newcomers'],
  ] as const)('%o: bound %s, advertised %s, held off %s', (state, isBound, advertisement, hold) => {
    expect(desiredOf(state)).toEqual({ isBound, advertisement, hold });
  });
});

describe('before bootstrap is proven', () => {
  it('gives the VIP to an init master at once, whatever its API server says', () => {
    for (const readiness of ['unknown', 'ready', 'soft', 'unauthorized', 'stopping', 'hard'] as const) {
      expect(nameAfter(absent, { role: 'init', bootstrap: 'unproven', readiness })).toBe('local-only');
    }
  });

  it('keeps the VIP off a joiner, also when /readyz is green', () => {
    for (const state of [absent, localOnly, advertised, lastResort, draining]) {
      expect(nameAfter(state, { bootstrap: 'unproven', readiness: 'ready' })).toBe('absent');
    }
  });

  it('keeps the VIP off an init master whose proof is void, until prepare says otherwise', () => {
    for (const state of [absent, localOnly, advertised, lastResort, draining]) {
      expect(nameAfter(state, { role: 'init', bootstrap: 'void' })).toBe('absent');
    }
  });

  it('says why, in the words of the bootstrap', () => {
    expect(decide(absent, { bootstrap: 'unproven' }).reason).toBe('bootstrap detail');
  });
});

describe('from absent', () => {
  it('binds first when the API server is ready, and does not advertise yet', () => {
    expect(nameAfter(absent, {})).toBe('local-only');
  });

  it('binds for a last resort when the API server answers but is not ready', () => {
    expect(nameAfter(absent, { readiness: 'soft' })).toBe('local-only');
  });

  it.each(['unknown', 'unauthorized', 'hard', 'stopping'] as const)(
    'stays absent while the API server is %s',
    (readiness) => {
      expect(nameAfter(absent, { readiness })).toBe('absent');
    },
  );

  it('stays absent while a drain is asked for', () => {
    expect(nameAfter(absent, { drain: byFile })).toBe('absent');
  });
});

describe('from local-only', () => {
  it('advertises once the VIP answers on this host', () => {
    expect(nameAfter(localOnly, { bindCheck: 'pending' })).toBe('local-only');
    expect(nameAfter(localOnly, { bindCheck: 'failed' })).toBe('local-only');
    expect(nameAfter(localOnly, { bindCheck: 'passed' })).toBe('advertised');
  });

  it('does not advertise for the first time with a certificate that lacks the name, and says so', () => {
    expect(decide(localOnly, { bindCheck: 'wrong-certificate' })).toEqual({
      state: localOnly,
      reason: 'bind check detail',
    });
    expect(nameAfter(localOnly, { bindCheck: 'wrong-certificate', hasAdvertised: true })).toBe('advertised');
  });

  it('becomes a last resort when the API server answers but is not ready', () => {
    expect(nameAfter(localOnly, { readiness: 'soft' })).toBe('last-resort');
    expect(nameAfter(localOnly, { readiness: 'soft', bindCheck: 'failed' })).toBe('local-only');
  });

  it('keeps the VIP of a predecessor until the first verdict on the API server', () => {
    expect(nameAfter(localOnly, { readiness: 'unknown' })).toBe('local-only');
    expect(nameAfter(localOnly, { readiness: 'unknown', drain: byFile })).toBe('local-only');
  });

  it('does not take a starting API server that answers 403 into the pool', () => {
    expect(nameAfter(localOnly, { readiness: 'unauthorized' })).toBe('local-only');
    expect(nameAfter(localOnly, { readiness: 'unauthorized', hasAdvertised: true })).toBe('last-resort');
  });

  it('unbinds when the API server does not answer, on a bootstrapped init master too', () => {
    expect(nameAfter(localOnly, { role: 'init', readiness: 'hard' })).toBe('absent');
  });

  it('drains a path that its predecessor may still have at the routers', () => {
    expect(nameAfter(localOnly, { drain: byFile })).toBe('draining');
    expect(nameAfter(localOnly, { drain: byFile, bindCheck: 'failed' })).toBe('absent');
  });
});

describe('from advertised', () => {
  it.each([
    ['ready', 'advertised'],
    ['soft', 'last-resort'],
    ['unauthorized', 'last-resort'],
    ['hard', 'absent'],
    ['stopping', 'draining'],
  ] as const)('an API server that is %s makes it %s', (readiness, name) => {
    expect(nameAfter(advertised, { readiness })).toBe(name);
  });

  it('is absent as soon as the proof is void', () => {
    expect(nameAfter(advertised, { bootstrap: 'void' })).toBe('absent');
  });

  it.each(['command', 'drain file', 'stop'] as const)('drains for a %s', (by) => {
    const drain = { by, isForced: false };
    expect(decide(advertised, { drain }, 7).state).toEqual({ ...draining, startedAt: 7 });
  });
});

describe('from last-resort', () => {
  it.each([
    ['ready', 'advertised'],
    ['soft', 'last-resort'],
    ['unauthorized', 'last-resort'],
    ['hard', 'absent'],
    ['stopping', 'draining'],
  ] as const)('an API server that is %s makes it %s', (readiness, name) => {
    expect(nameAfter(lastResort, { readiness })).toBe(name);
  });

  it('stays as long as the soft failure lasts', () => {
    expect(nameAfter(lastResort, { readiness: 'soft' }, 86_400_000)).toBe('last-resort');
  });
});

describe('draining', () => {
  const stopping = { readiness: 'stopping' } as const;

  it('goes on while clients are connected, the API server serves and the time is not up', () => {
    expect(decide(draining, { ...stopping, clients: 1 }, 59_999)).toMatchObject({
      state: draining,
      reason: expect.stringContaining('1 connections of clients are left'),
    });
    expect(decide(draining, { drain: byFile }, 59_999).state).toEqual(draining);
  });

  it.each([
    ['no client is connected', { ...stopping, clients: 0 }, 10, true],
    ['the API server has closed its port', { ...stopping, isPortClosed: true, clients: 1 }, 500, false],
    ['the drain timeout', { ...stopping, clients: 1 }, 60_000, false],
    ['at once', { drain: byFile, clients: 1, isHurried: true }, 500, false],
  ] as const)('comes to its end: %s', (end, changes, now, isEarly) => {
    const { state, reason } = decide(draining, changes, now);
    expect(state).toEqual({ ...draining, closing: { at: now, isEarly, why: expect.stringContaining(end) } });
    expect(reason).toContain(end);
  });

  it('takes the time that the command gives, not the configured one', () => {
    const drain: DrainRequest = { by: 'command', isForced: false, timeout: 5_000 };
    expect(decide(draining, { drain, clients: 1 }, 4_999).state).toEqual(draining);
    expect(decide(draining, { drain, clients: 1 }, 5_000).reason).toContain('5 s has passed');
  });

  it('returns to service when what asked for it is taken back, in every phase', () => {
    for (const state of [draining, closing, withdrawn]) {
      expect(nameAfter(state, {})).toBe('advertised');
      expect(nameAfter(state, { readiness: 'soft' })).toBe('last-resort');
    }
  });
});

describe('a drain that would empty the pool', () => {
  const drain: DrainRequest = { by: 'command', isForced: false };

  it('is announced, and waits for another master as long as it takes', () => {
    expect(nameAfter(advertised, { drain, others: 0 })).toBe('draining');
    expect(decide(draining, { drain, others: 0, clients: 0 }, 600_000)).toEqual({
      state: draining,
      reason: 'drained by command, and waits: no other master is known to the routers',
    });
    expect(decide(draining, { drain, others: 1, clients: 0 }, 600_000).reason).toContain('the drain ends');
  });

  it.each([
    ['forced', { drain: byFile }],
    ['hurried', { drain, isHurried: true }],
    ['the API server’s own', { drain, readiness: 'stopping' }],
  ] as const)('ends when it is %s', (_, changes) => {
    expect(decide(draining, { ...changes, others: 0, clients: 0 }, 10).reason).toContain('the drain ends');
  });
});

describe('the end of a drain', () => {
  const drain = byFile;

  it('withdraws once new connections are held off and nobody is left', () => {
    expect(decide(closing, { drain, clients: 0 }, 120).state).toEqual(closing);
    expect(decide(closing, { drain, clients: 0, isHeld: true }, 120).state).toEqual({
      ...closing,
      withdrawnAt: 120,
    });
  });

  it('lets requests under way end, for less than a held client waits', () => {
    expect(decide(closing, { drain, clients: 3, isHeld: true }, 599).state).toEqual(closing);
    expect(decide(closing, { drain, clients: 3, isHeld: true }, 600).state).toMatchObject({
      withdrawnAt: 600,
    });
    expect(drainPace.closingLimit).toBeLessThan(1_000);
  });

  it('lets an API server that has closed its port answer what is under way, for less than a held client waits twice', () => {
    const stopped = { readiness: 'stopping', isPortClosed: true, isHeld: true } as const;
    expect(decide(closing, { ...stopped, clients: 3 }, 2_099).state).toEqual(closing);
    expect(decide(closing, { ...stopped, clients: 3 }, 2_100).state).toMatchObject({ withdrawnAt: 2_100 });
    expect(decide(closing, { ...stopped, clients: 0 }, 700).state).toMatchObject({ withdrawnAt: 700 });
    expect(drainPace.inFlightLimit).toBeLessThan(3_000);
  });

  it('goes on without the hold when the kernel does not do it', () => {
    expect(decide(closing, { drain, clients: 0 }, 349).state).toEqual(closing);
    expect(decide(closing, { drain, clients: 0 }, 350).state).toMatchObject({ withdrawnAt: 350 });
  });

  it('is put off when somebody came in the last moment and stays', () => {
    const ending: VipState = { ...draining, closing: early };
    expect(decide(ending, { drain, clients: 1, isHeld: true }, 599).state).toEqual(ending);
    expect(decide(ending, { drain, clients: 1, isHeld: true }, 600).state).toEqual(draining);
  });

  it('is withdrawn at once when the API server is dead', () => {
    const dead = { drain, readiness: 'hard', readinessDetail: 'gone', clients: 1 } as const;
    expect(decide(draining, dead, 50)).toEqual({
      state: { ...draining, closing: { at: 50, isEarly: false, why: 'gone' }, withdrawnAt: 50 },
      reason: 'drained: gone',
    });
    expect(decide(closing, dead, 150).state).toEqual({ ...closing, withdrawnAt: 150 });
  });

  it('waits for nobody when it is hurried', () => {
    expect(decide(closing, { drain, clients: 9, isHeld: true, isHurried: true }, 101).state).toMatchObject({
      withdrawnAt: 101,
    });
  });

  it('unbinds when the routers have moved on, or have had their time', () => {
    expect(nameAfter(withdrawn, { drain }, 2_999)).toBe('draining');
    expect(nameAfter(withdrawn, { drain, haveMovedOn: true }, 2_001)).toBe('absent');
    expect(nameAfter(withdrawn, { drain }, 3_000)).toBe('absent');
  });
});
