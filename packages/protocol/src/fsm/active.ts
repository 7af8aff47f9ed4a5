import { acquiring } from './acquiring.ts';
import type { ActiveState, Handler } from './state.ts';
import { stay, toActive, toConnect, toIdle } from './transitions.ts';

/** Active (RFC 4271 section 8.2.2): waiting for the peer to connect, or for our next attempt. */
export const active: Handler<ActiveState> = (state, event, config) => {
  switch (event.type) {
    case 'ConnectRetryTimer_Expires':
      // A passive peer has no such timer; were it to fire, no SYN may follow.
      return config.passive
        ? stay(state, 'passive: no attempt of our own')
        : toConnect(
            config,
            state.delayingOpen ? [{ type: 'close' }, { type: 'stopTimer', timer: 'DelayOpen' }] : [],
            'ConnectRetryTimer expired',
          );
    case 'TcpConnectionFails':
      // With the DelayOpenTimer running the answer of Connect is taken (restart ConnectRetryTimer, no damping):
      // a peer that closes before any OPEN has broken nothing.
      return state.delayingOpen
        ? toActive(
            config,
            [{ type: 'close' }, { type: 'stopTimer', timer: 'DelayOpen' }],
            `TCP connection failed: ${event.detail}`,
          )
        : toIdle({ counter: 'increment', damp: true }, `TCP connection failed: ${event.detail}`);
    default:
      return acquiring(state, event, config);
  }
};
