import { active } from './active.ts';
import { connect } from './connect.ts';
import { established } from './established.ts';
import type { FsmEvent } from './event.ts';
import { idle } from './idle.ts';
import { openConfirm } from './open-confirm.ts';
import { openSent } from './open-sent.ts';
import type { ConnectionConfig, State, Step } from './state.ts';

/**
 * The finite state machine of one BGP connection (RFC 4271 section 8.2.2), as a function: it does nothing, never throws,
 * and has an answer to every event in every state. `docs/fsm.md` is made from it.
 */
export function step(state: State, event: FsmEvent, config: ConnectionConfig): Step {
  switch (state.name) {
    case 'Idle':
      return idle(state, event, config);
    case 'Connect':
      return connect(state, event, config);
    case 'Active':
      return active(state, event, config);
    case 'OpenSent':
      return openSent(state, event, config);
    case 'OpenConfirm':
      return openConfirm(state, event, config);
    case 'Established':
      return established(state, event, config);
  }
}
