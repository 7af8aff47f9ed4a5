import type { ConnectionTimer, FsmEvent } from '../index.ts';
import type { Clock } from './clock.ts';
import type { Deadlines } from './deadlines.ts';
import { SessionTimers } from './session-timers.ts';

const jittered: readonly ConnectionTimer[] = ['ConnectRetry', 'Keepalive', 'DelayOpen'];
/** RFC 4271 section 4.4: "KEEPALIVE messages MUST NOT be sent more frequently than one per second." */
const least: Partial<Readonly<Record<ConnectionTimer, number>>> = { Keepalive: 1 };
const silence: readonly ConnectionTimer[] = ['Hold'];

const expiry = {
  ConnectRetry: 'ConnectRetryTimer_Expires',
  Hold: 'HoldTimer_Expires',
  Keepalive: 'KeepaliveTimer_Expires',
  DelayOpen: 'DelayOpenTimer_Expires',
  SendHold: 'SendHoldTimer_Expires',
} as const satisfies Record<ConnectionTimer, string>;

/** The timers of one connection; each that expires is an event of its FSM. */
export function connectionTimers(
  {
    clock,
    deadlines,
    random,
  }: { readonly clock: Clock; readonly deadlines: Deadlines; readonly random: () => number },
  event: (event: FsmEvent) => void,
): SessionTimers<ConnectionTimer> {
  const expired = (timer: ConnectionTimer): void => event({ type: expiry[timer] });
  return new SessionTimers({ clock, deadlines, random, jittered, least, silence, expired });
}
