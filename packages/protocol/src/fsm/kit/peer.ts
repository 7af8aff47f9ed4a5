import type { Role } from '../collision.ts';
import type { FsmEvent } from '../event.ts';
import type { LocalOffer } from '../local-open.ts';
import type { Negotiated } from '../negotiate.ts';
import { type PeerAction, PeerFsm, type PeerFsmConfig, type PeerInput } from '../peer-fsm.ts';
import { negotiatedWith, ourOpen, sampleEvents } from './samples.ts';
import { actionText } from './summary.ts';

/** A peer FSM that a test talks to in short words, and that answers so. */
export class Peer {
  readonly fsm: PeerFsm;
  now = 0;

  constructor(config: Partial<PeerFsmConfig> = {}) {
    this.fsm = new PeerFsm(ourOpen(), {
      passive: false,
      connectRetryTime: 120,
      delayOpenTime: undefined,
      sendHoldTime: 480,
      ...config,
    });
  }

  input(input: PeerInput): readonly string[] {
    return this.fsm.handle(input, this.now).flatMap(textOf);
  }

  event(role: Role, event: FsmEvent): readonly string[] {
    return this.input({ type: 'connection', role, event });
  }

  /** Both connections are there, and both OPENs are out. */
  bothOpenSent(): this {
    this.input({ type: 'start' });
    this.event('active', sampleEvents.Tcp_CR_Acked);
    this.input({ type: 'incoming' });
    return this;
  }

  establishPassive(negotiated: Negotiated = negotiatedWith()): this {
    this.input({ type: 'incoming' });
    this.event('passive', { type: 'BGPOpen', negotiated });
    this.event('passive', sampleEvents.KeepAliveMsg);
    return this;
  }
}

function textOf(action: PeerAction): readonly string[] {
  switch (action.type) {
    case 'connection':
      return action.action.type === 'stopTimer' ? [] : [`${action.role}: ${actionText(action.action)}`];
    case 'transition':
      return [];
    case 'refuse':
      return [
        `refuse${action.notification === undefined ? '' : ` ${action.notification.code}/${action.notification.subcode}`}`,
      ];
    case 'startIdleHold':
      return [`hold ${action.seconds}`];
    default:
      return [action.type];
  }
}

/** The peer's OPEN, valid. */
export function open(theirs: Partial<LocalOffer> = {}): FsmEvent {
  return { type: 'BGPOpen', negotiated: negotiatedWith({}, theirs) };
}
