import type { LifecycleInput, LifecycleTimes } from './lifecycle-input.ts';
import type { VipState } from './vip-state.ts';

export interface Decision {
  readonly state: VipState;
  /** One sentence for status and the log: why this state. */
  readonly reason: string;
}

const absent: VipState = { name: 'absent' };
const localOnly: VipState = { name: 'local-only' };
const advertised: VipState = { name: 'advertised' };
const lastResort: VipState = { name: 'last-resort' };

/**
 * The state machine of one VIP. Pure and total: every (state, input) has an answer, and the same input twice
 * gives the same answer, so it may be run as often as one likes.
 *
 * Bind and advertise are two decisions: from `absent` a VIP is first bound (`local-only`), then advertised once a
 * connection to it on this host has worked.
 *
 * @param now monotonic milliseconds
 */
export function step(state: VipState, input: LifecycleInput, times: LifecycleTimes, now: number): Decision {
  if (input.bootstrap !== 'proven') return beforeProof(input);
  if (state.name === 'draining') return drainOn(state, input, times, now);
  if (input.readiness === 'hard') return { state: absent, reason: input.readinessDetail };
  const wish = drainWish(input);
  if (wish !== undefined) return startDrain(state, input, wish, now);
  return inService(state, input);
}

/**
 * kubeadm init calls the API through the control-plane endpoint, so the first master needs the VIP on itself from the start.
 * A joiner needs another master through the VIP until its join has succeeded. A void proof leaves it open which of the
 * two this machine is now: it stays off the VIP.
 */
function beforeProof(input: LifecycleInput): Decision {
  if (input.role === 'init' && input.bootstrap === 'unproven') {
    return { state: localOnly, reason: `kubeadm init needs the VIP on this host; ${input.bootstrapDetail}` };
  }
  return { state: absent, reason: input.bootstrapDetail };
}

function drainWish(input: LifecycleInput): string | undefined {
  if (input.readiness === 'stopping') return input.readinessDetail;
  if (input.drain === 'drain file') return 'the drain file is there';
  if (input.drain === 'shutdown') return 'the speaker stops and drains';
  return undefined;
}

function startDrain(state: VipState, input: LifecycleInput, wish: string, now: number): Decision {
  switch (state.name) {
    case 'advertised':
    case 'last-resort':
      return { state: { name: 'draining', startedAt: now, withdrawnAt: undefined }, reason: wish };
    case 'local-only':
      // A restarted speaker has not looked yet: its routers still hold the path of its predecessor.
      if (input.readiness === 'unknown') return { state, reason: `${wish}; ${input.readinessDetail}` };
      if (input.bindCheck === 'pending') return { state, reason: `${wish}; ${input.bindCheckDetail}` };
      if (!mayAdvertise(input)) return { state: absent, reason: wish };
      return { state: { name: 'draining', startedAt: now, withdrawnAt: undefined }, reason: wish };
    default:
      return { state: absent, reason: wish };
  }
}

function drainOn(
  state: Extract<VipState, { name: 'draining' }>,
  input: LifecycleInput,
  times: LifecycleTimes,
  now: number,
): Decision {
  const wish = drainWish(input);
  if (wish === undefined && input.readiness !== 'hard') return inService(state, input);
  if (state.withdrawnAt !== undefined) {
    const isOver = now - state.withdrawnAt >= times.withdrawDelay;
    return { state: isOver ? absent : state, reason: 'drained; withdrawn from the routers' };
  }
  const end = drainEnd(state.startedAt, input, times, now);
  if (end === undefined) return { state, reason: wish ?? input.readinessDetail };
  return { state: { ...state, withdrawnAt: now }, reason: `drained: ${end}` };
}

function drainEnd(
  startedAt: number,
  input: LifecycleInput,
  times: LifecycleTimes,
  now: number,
): string | undefined {
  if (input.isPortClosed) return 'the API server has closed its port';
  if (input.readiness === 'hard') return input.readinessDetail;
  if (input.clients === 0 && now - startedAt >= times.leastDrain) return 'no client is connected any more';
  if (now - startedAt >= times.drainTimeout)
    return `the drain timeout of ${times.drainTimeout / 1000} s has passed`;
  return undefined;
}

/** Bootstrap proven, nothing drains, the API server not given up. */
function inService(state: VipState, input: LifecycleInput): Decision {
  switch (input.readiness) {
    case 'ready':
      return outOf(state, input, advertised);
    case 'soft':
      return outOf(state, input, lastResort);
    case 'unauthorized':
      return unauthorized(state, input);
    default:
      return { state, reason: input.readinessDetail };
  }
}

/**
 * A starting API server answers 403 until its RBAC exists: that never takes a master into the pool. One that was in the
 * pool answers, but is not ready: last resort.
 */
function unauthorized(state: VipState, input: LifecycleInput): Decision {
  if (state.name === 'absent' || (state.name === 'local-only' && !input.hasAdvertised)) {
    return { state, reason: input.readinessDetail };
  }
  return outOf(state, input, lastResort);
}

function outOf(state: VipState, input: LifecycleInput, target: VipState): Decision {
  switch (state.name) {
    case 'absent':
      return { state: localOnly, reason: 'bound; the connection to the VIP on this host is checked next' };
    case 'local-only':
      if (!mayAdvertise(input)) return { state, reason: input.bindCheckDetail };
      return { state: target, reason: input.readinessDetail };
    default:
      return { state: target, reason: input.readinessDetail };
  }
}

function mayAdvertise(input: LifecycleInput): boolean {
  return input.bindCheck === 'passed' || (input.bindCheck === 'wrong-certificate' && input.hasAdvertised);
}
