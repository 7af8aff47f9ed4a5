import type { LifecycleInput, LifecycleTimes } from './lifecycle-input.ts';
import type { DrainEnd, VipState } from './vip-state.ts';

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
  switch (input.drain?.by) {
    case 'command':
      return 'drained by command';
    case 'annotation':
      return 'drained by annotation';
    case 'drain file':
      return 'the drain file is there';
    case 'stop':
      return 'the speaker stops and drains';
    case undefined:
      return undefined;
  }
}

function startDrain(state: VipState, input: LifecycleInput, wish: string, now: number): Decision {
  switch (state.name) {
    case 'advertised':
    case 'last-resort':
      return { state: drainSince(now), reason: wish };
    case 'local-only':
      // A restarted speaker has not looked yet: its routers still hold the path of its predecessor.
      if (input.readiness === 'unknown') return { state, reason: `${wish}; ${input.readinessDetail}` };
      if (input.bindCheck === 'pending') return { state, reason: `${wish}; ${input.bindCheckDetail}` };
      if (!mayAdvertise(input)) return { state: absent, reason: wish };
      return { state: drainSince(now), reason: wish };
    default:
      return { state: absent, reason: wish };
  }
}

type Draining = Extract<VipState, { name: 'draining' }>;

function drainSince(startedAt: number): Draining {
  return { name: 'draining', startedAt, closing: undefined, withdrawnAt: undefined };
}

/** GRACEFUL_SHUTDOWN is announced; then new connections are held off, the route is withdrawn, and the VIP unbound. */
function drainOn(state: Draining, input: LifecycleInput, times: LifecycleTimes, now: number): Decision {
  const wish = drainWish(input);
  if (wish === undefined && input.readiness !== 'hard') return inService(state, input);
  const { closing, withdrawnAt } = state;
  if (withdrawnAt !== undefined) {
    const isOver = input.haveMovedOn || now - withdrawnAt >= times.moveOnLimit;
    return { state: isOver ? absent : state, reason: `drained: ${closing?.why}` };
  }
  if (input.readiness === 'hard') return withdrawDead(state, input, now);
  if (closing !== undefined) return close({ ...state, closing }, input, times, now);
  const end = drainEnd(state.startedAt, input, times, now);
  if (end === undefined) return { state, reason: `${wish}; ${clientsLeft(input)}` };
  if (mustStay(input))
    return { state, reason: `${wish}, and waits: no other master is known to the routers` };
  return { state: { ...state, closing: { at: now, ...end } }, reason: `the drain ends: ${end.why}` };
}

function close(
  state: Draining & { readonly closing: DrainEnd },
  input: LifecycleInput,
  times: LifecycleTimes,
  now: number,
): Decision {
  const { at, why, isEarly } = state.closing;
  const reason = `the drain ends: ${why}`;
  if (!input.isHeld && now - at < times.holdLimit) return { state, reason };
  if (input.clients !== 0 && !input.isHurried) {
    // No new client comes in by a closed port: those that are left are being answered.
    if (now - at < (input.isPortClosed ? times.inFlightLimit : times.closingLimit)) return { state, reason };
    // A client came in the last moment, and stays: as long as others may.
    if (isEarly && input.clients !== undefined)
      return { state: { ...state, closing: undefined }, reason: clientsLeft(input) };
  }
  return { state: { ...state, withdrawnAt: now }, reason: `drained: ${why}` };
}

/** No client is served any more: a dead API server is not advertised for a moment longer. */
function withdrawDead(state: Draining, { readinessDetail: why }: LifecycleInput, now: number): Decision {
  const closing = state.closing ?? { at: now, isEarly: false, why };
  return { state: { ...state, closing, withdrawnAt: now }, reason: `drained: ${closing.why}` };
}

/** An API server that stops serves no client in any case; a drain that people ask for does not empty the pool unless forced. */
function mustStay({ drain, others, readiness, isHurried }: LifecycleInput): boolean {
  if (readiness === 'stopping' || isHurried) return false;
  return drain !== undefined && !drain.isForced && others === 0;
}

function clientsLeft({ clients }: LifecycleInput): string {
  return clients === undefined
    ? 'connections of clients cannot be counted'
    : `${clients} connections of clients are left`;
}

function drainEnd(
  startedAt: number,
  input: LifecycleInput,
  times: LifecycleTimes,
  now: number,
): Pick<DrainEnd, 'why' | 'isEarly'> | undefined {
  const timeout = input.drain?.timeout ?? times.drainTimeout;
  const late = (why: string) => ({ why, isEarly: false });
  if (input.isPortClosed) return late('the API server has closed its port');
  if (input.isHurried) return late('told to end at once');
  if (now - startedAt >= timeout) return late(`the drain timeout of ${timeout / 1000} s has passed`);
  return input.clients === 0 ? { why: 'no client is connected any more', isEarly: true } : undefined;
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
