import { type Action, connectionTimers, type SessionEnd } from './action.ts';
import type { FsmEvent, NotificationContent } from './event.ts';
import type { Negotiated } from './negotiate.ts';
import type { ConnectionConfig, State, Step } from './state.ts';

/** RFC 4271 section 8.2.2 suggests 4 minutes for the hold timer while an OPEN is awaited, in seconds. */
const LARGE_HOLD_TIME = 240;

/** A peer that is just starting may need as long for its OPEN, in seconds. */
const LEAST_OPEN_TIME = 10;

const noData: Uint8Array = new Uint8Array(0);

/** The NOTIFICATIONs that the FSM sends of its own accord (RFC 4271 section 4.5, RFC 4486, RFC 9687). */
export const holdTimerExpired: NotificationContent = Object.freeze({ code: 4, subcode: 0, data: noData });
export const connectionCollision: NotificationContent = Object.freeze({ code: 6, subcode: 7, data: noData });
export const sendHoldTimerExpired: NotificationContent = Object.freeze({ code: 8, subcode: 0, data: noData });

const stopAllTimers: readonly Action[] = connectionTimers.map((timer) => ({ type: 'stopTimer', timer }));
const idle: State = Object.freeze({ name: 'Idle' });
const none: readonly Action[] = Object.freeze([]);

/** Nothing happens. */
export function stay(state: State, reason: string): Step {
  return { state, actions: none, reason };
}

/** How a connection ends; every field adds one of the steps that RFC 4271 section 8.2.2 lists again and again. */
export interface Ending {
  readonly notify?: NotificationContent | undefined;
  readonly counter?: 'zero' | 'increment';
  readonly damp?: boolean;
  readonly down?: SessionEnd;
}

/** Drops the connection, releases everything, and goes to Idle. */
export function toIdle(ending: Ending, reason: string): Step {
  const actions: Action[] = [];
  if (ending.notify !== undefined) actions.push(notify(ending.notify));
  actions.push({ type: 'close' }, ...stopAllTimers);
  if (ending.counter !== undefined) {
    actions.push({ type: 'connectRetryCounter', change: ending.counter });
  }
  if (ending.damp === true) actions.push({ type: 'damp' });
  if (ending.down !== undefined) actions.push({ type: 'down', end: ending.down });
  return { state: idle, actions, reason };
}

function notify({ code, subcode, data }: NotificationContent): Action {
  return { type: 'notify', code, subcode, data };
}

/** Opens a TCP connection and waits for it; the ConnectRetryTimer bounds the attempt. */
export function toConnect(config: ConnectionConfig, before: readonly Action[], reason: string): Step {
  return {
    state: { name: 'Connect', delayingOpen: false },
    actions: [
      ...before,
      { type: 'startTimer', timer: 'ConnectRetry', seconds: config.connectRetryTime },
      { type: 'connect' },
    ],
    reason,
  };
}

/** Waits for the peer to connect and, unless we are passive, for the next attempt of our own. */
export function toActive(config: ConnectionConfig, before: readonly Action[], reason: string): Step {
  const retry: readonly Action[] = config.passive
    ? []
    : [{ type: 'startTimer', timer: 'ConnectRetry', seconds: config.retryDelay }];
  return { state: { name: 'Active', delayingOpen: false }, actions: [...before, ...retry], reason };
}

/** TCP is there: OPEN goes out, or waits for the DelayOpenTimer. */
export function tcpSucceeded(
  state: State & { readonly name: 'Connect' | 'Active' },
  config: ConnectionConfig,
): Step {
  if (config.delayOpenTime === undefined) return sendOpen(config, 'TCP connection established');
  return {
    state: { ...state, delayingOpen: true },
    actions: [
      { type: 'stopTimer', timer: 'ConnectRetry' },
      { type: 'startTimer', timer: 'DelayOpen', seconds: config.delayOpenTime },
    ],
    reason: 'TCP connection established, OPEN is delayed',
  };
}

/**
 * Seconds to wait for the peer's OPEN: the hold time that we offer, from 10 to 240; 240 when we offer none. The 4
 * minutes that RFC 4271 suggests are not used: a peer that loses power after its kernel has taken our OPEN leaves
 * nothing that TCP would send again, so that only this timer ends the wait.
 */
function openHoldTime({ localOpen: { holdTime } }: ConnectionConfig): number {
  return holdTime === 0 ? LARGE_HOLD_TIME : Math.min(LARGE_HOLD_TIME, Math.max(LEAST_OPEN_TIME, holdTime));
}

/** Sends OPEN and waits for the peer's. */
export function sendOpen(config: ConnectionConfig, reason: string): Step {
  return {
    state: { name: 'OpenSent' },
    actions: [
      { type: 'stopTimer', timer: 'ConnectRetry' },
      { type: 'stopTimer', timer: 'DelayOpen' },
      { type: 'send', message: config.localOpen },
      { type: 'startTimer', timer: 'Hold', seconds: openHoldTime(config) },
    ],
    reason,
  };
}

/** A valid OPEN was received: KEEPALIVE answers it, and the timers take their negotiated values. */
export function toOpenConfirm(
  negotiated: Negotiated,
  config: ConnectionConfig,
  before: readonly Action[],
): Step {
  const timers: readonly Action[] =
    negotiated.holdTime === 0
      ? // RFC 4271 section 4.2: with a hold time of zero neither timer is started.
        [{ type: 'stopTimer', timer: 'Hold' }]
      : [
          { type: 'startTimer', timer: 'Keepalive', seconds: negotiated.keepaliveTime },
          { type: 'startTimer', timer: 'Hold', seconds: negotiated.holdTime },
          {
            type: 'startTimer',
            timer: 'SendHold',
            seconds: Math.max(config.sendHoldTime, 2 * negotiated.holdTime),
          },
        ];
  return {
    state: { name: 'OpenConfirm', negotiated },
    actions: [...before, { type: 'send', message: { type: 'KEEPALIVE' } }, ...timers],
    reason: 'OPEN received',
  };
}

/** The code of the message that an event stands for (RFC 4271 section 4.1), for the data field of RFC 6608 section 4. */
function messageTypeOf(event: FsmEvent): number | undefined {
  switch (event.type) {
    case 'BGPOpen':
    case 'BGPOpenMsgErr':
      return 1;
    case 'UpdateMsg':
    case 'UpdateMsgErr':
      return 2;
    case 'NotifMsg':
    case 'NotifMsgVerErr':
      return 3;
    case 'KeepAliveMsg':
      return 4;
    case 'RouteRefreshMsg':
    case 'RouteRefreshMsgErr':
      return 5;
    default:
      return undefined;
  }
}

/**
 * The answer to "any other event": Finite State Machine Error.
 * @param subcode the one of this state, 1 to 3 (RFC 6608 section 3); used where the event is a message
 */
export function fsmError(subcode: 1 | 2 | 3, event: FsmEvent, established: boolean): Step {
  const type = messageTypeOf(event);
  const notification: NotificationContent =
    type === undefined
      ? { code: 5, subcode: 0, data: noData }
      : { code: 5, subcode, data: Uint8Array.of(type) };
  return toIdle(
    {
      notify: notification,
      counter: 'increment',
      damp: true,
      ...(established ? { down: { kind: 'fsm-error', ...notification } } : {}),
    },
    `unexpected ${event.type}`,
  );
}
