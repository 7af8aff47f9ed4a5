import type { Action } from './action.ts';
import type { Handler, IdleState } from './state.ts';
import { stay, toActive, toConnect } from './transitions.ts';

const zeroCounter: readonly Action[] = Object.freeze([{ type: 'connectRetryCounter', change: 'zero' }]);

/** Idle (RFC 4271 section 8.2.2): only a start event does anything. */
export const idle: Handler<IdleState> = (state, event, config) => {
  switch (event.type) {
    case 'ManualStart':
      return config.passive
        ? toActive(config, zeroCounter, 'started')
        : toConnect(config, zeroCounter, 'started');
    case 'ManualStart_with_PassiveTcpEstablishment':
      return toActive({ ...config, passive: true }, zeroCounter, 'started, passive');
    // Automatic starts keep the ConnectRetryCounter: zeroing it here, as the RFC's text has it, would
    // forget the failures that brought the connection to Idle.
    case 'AutomaticStart':
    case 'AutomaticStart_with_DampPeerOscillations':
      return config.passive ? toActive(config, [], 'started again') : toConnect(config, [], 'started again');
    case 'AutomaticStart_with_PassiveTcpEstablishment':
    case 'AutomaticStart_with_DampPeerOscillations_and_PassiveTcpEstablishment':
      return toActive({ ...config, passive: true }, [], 'started again, passive');
    default:
      // "Any other event ... does not cause change in the state of the local system."
      return stay(state, `${event.type} ignored in Idle`);
  }
};
