import { describe, expect, it } from 'vitest';
import type { LifecycleInput } from './lifecycle-input.ts';
import { type Decision, step } from './step.ts';
import { desiredOf, type VipState } from './vip-state.ts';

const times = { drainTimeout: 60_000, leastDrain: 2_000, withdrawDelay: 1_000 };

const absent: VipState = { name: 'absent' };
const localOnly: VipState = { name: 'local-only' };
const advertised: VipState = { name: 'advertised' };
const lastResort: VipState = { name: 'last-resort' };
const draining: VipState = { name: 'draining', startedAt: 0, withdrawnAt: undefined };

/** A proven joiner whose API server is ready and whose VIP answers on this host. */
const healthy: LifecycleInput = {
  role: 'join',
  bootstrap: 'proven',
  bootstrapDetail: 'bootstrap detail',
  readiness: 'ready',
  readinessDetail: 'readiness detail',
  isPortClosed: false,
  clients: undefined,
  drain: undefined,
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
    [absent, false, 'none'],
    [localOnly, true, 'none'],
    [advertised, true, 'normal'],
    [lastResort, true, 'last-resort'],
    [draining, true, 'draining'],
    [{ ...draining, withdrawnAt: 5 } satisfies VipState, true, 'none'],
  ] as const)('%o: bound %s, advertised %s', (state, isBound, advertisement) => {
    expect(desiredOf(state)).toEqual({ isBound, advertisement });
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
    expect(nameAfter(absent, { drain: 'drain file' })).toBe('absent');
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
    expect(nameAfter(localOnly, { readiness: 'unknown', drain: 'drain file' })).toBe('local-only');
  });

  it('does not take a starting API server that answers 403 into the pool', () => {
    expect(nameAfter(localOnly, { readiness: 'unauthorized' })).toBe('local-only');
    expect(nameAfter(localOnly, { readiness: 'unauthorized', hasAdvertised: true })).toBe('last-resort');
  });

  it('unbinds when the API server does not answer, on a bootstrapped init master too', () => {
    expect(nameAfter(localOnly, { role: 'init', readiness: 'hard' })).toBe('absent');
  });

  it('drains a path that its predecessor may still have at the routers', () => {
    expect(nameAfter(localOnly, { drain: 'drain file' })).toBe('draining');
    expect(nameAfter(localOnly, { drain: 'drain file', bindCheck: 'failed' })).toBe('absent');
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

  it.each(['drain file', 'shutdown'] as const)('drains for a %s', (drain) => {
    expect(decide(advertised, { drain }, 7).state).toEqual({
      name: 'draining',
      startedAt: 7,
      withdrawnAt: undefined,
    });
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

  it('goes on while the API server still serves and the time is not up', () => {
    expect(decide(draining, stopping, 59_999).state).toEqual(draining);
    expect(decide(draining, { ...stopping, clients: 1 }, 59_999).state).toEqual(draining);
  });

  it('goes on for a while without a client: the routers may not have moved yet', () => {
    expect(decide(draining, { ...stopping, clients: 0 }, 1_999).state).toEqual(draining);
  });

  it.each([
    ['the API server has closed its port', { ...stopping, isPortClosed: true }, 500],
    ['the drain timeout', stopping, 60_000],
    ['no client is connected', { ...stopping, clients: 0 }, 2_000],
    ['API server gone', { readiness: 'hard', readinessDetail: 'API server gone' } as const, 500],
  ] as const)('withdraws and keeps the VIP a little longer: %s', (end, changes, now) => {
    const { state, reason } = decide(draining, changes, now);
    expect(state).toEqual({ name: 'draining', startedAt: 0, withdrawnAt: now });
    expect(desiredOf(state)).toEqual({ isBound: true, advertisement: 'none' });
    expect(reason).toContain(end);
  });

  it('unbinds only after the routers had time to move on', () => {
    const withdrawn: VipState = { name: 'draining', startedAt: 0, withdrawnAt: 2_000 };
    expect(nameAfter(withdrawn, stopping, 2_999)).toBe('draining');
    expect(nameAfter(withdrawn, stopping, 3_000)).toBe('absent');
  });

  it('returns to service when the drain file is taken away', () => {
    expect(nameAfter(draining, {})).toBe('advertised');
    expect(nameAfter(draining, { readiness: 'soft' })).toBe('last-resort');
    expect(nameAfter({ name: 'draining', startedAt: 0, withdrawnAt: 10 }, {}, 20)).toBe('advertised');
  });
});
