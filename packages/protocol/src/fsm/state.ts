import type { OpenMessage } from '../wire/message.ts';
import type { Action } from './action.ts';
import type { FsmEvent } from './event.ts';
import type { Negotiated } from './negotiate.ts';

/** One BGP connection (RFC 4271 section 8.2.2). Each state carries the data that exists in it, and no other. */
export type State =
  | IdleState
  | ConnectState
  | ActiveState
  | OpenSentState
  | OpenConfirmState
  | EstablishedState;

export interface IdleState {
  readonly name: 'Idle';
}

/** Waiting for our TCP connection; with `delayingOpen` it is there and the DelayOpenTimer runs. */
export interface ConnectState {
  readonly name: 'Connect';
  readonly delayingOpen: boolean;
}

/** Waiting for the peer's TCP connection; with `delayingOpen` it is there and the DelayOpenTimer runs. */
export interface ActiveState {
  readonly name: 'Active';
  readonly delayingOpen: boolean;
}

export interface OpenSentState {
  readonly name: 'OpenSent';
}

export interface OpenConfirmState {
  readonly name: 'OpenConfirm';
  readonly negotiated: Negotiated;
}

export interface EstablishedState {
  readonly name: 'Established';
  readonly negotiated: Negotiated;
}

/** The names of the states, in the order in which a session comes up. */
export type StateName = State['name'];

export const stateNames: readonly StateName[] = Object.freeze([
  'Idle',
  'Connect',
  'Active',
  'OpenSent',
  'OpenConfirm',
  'Established',
]);

/** What one connection is configured with. All times in seconds, before jitter. */
export interface ConnectionConfig {
  /** The OPEN that we send. */
  readonly localOpen: OpenMessage;
  /** Never open a connection ourselves (PassiveTcpEstablishment). */
  readonly passive: boolean;
  /** How long one attempt to connect may take. */
  readonly connectRetryTime: number;
  /** How long to wait after an attempt that failed. */
  readonly retryDelay: number;
  /** DelayOpenTime; `undefined` when DelayOpen is off. */
  readonly delayOpenTime: number | undefined;
  /** SendHoldTime (RFC 9687 section 3): at least twice the hold time is used. */
  readonly sendHoldTime: number;
}

/** The answer to one event. */
export interface Step {
  readonly state: State;
  readonly actions: readonly Action[];
  /** Why, in words for the log. */
  readonly reason: string;
}

/** The answer of one state to every event. */
export type Handler<S extends State> = (state: S, event: FsmEvent, config: ConnectionConfig) => Step;
