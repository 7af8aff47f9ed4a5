import { acquiring } from './acquiring.ts';
import type { ConnectState, Handler } from './state.ts';
import { toActive, toConnect } from './transitions.ts';

/** Connect (RFC 4271 section 8.2.2): our own TCP connection is on its way. */
export const connect: Handler<ConnectState> = (state, event, config) => {
  switch (event.type) {
    case 'ConnectRetryTimer_Expires':
      return toConnect(
        config,
        [{ type: 'close' }, { type: 'stopTimer', timer: 'DelayOpen' }],
        'no TCP connection in time, next attempt',
      );
    case 'TcpConnectionFails':
      // RFC 4271 goes to Idle here unless the DelayOpenTimer runs, and would start again at once. Active, its answer
      // with that timer, keeps attempts ConnectRetryTime apart, keeps listening, and is what RFC 1771 said.
      return toActive(
        config,
        [{ type: 'close' }, { type: 'stopTimer', timer: 'DelayOpen' }],
        `TCP connection failed: ${event.detail}`,
      );
    default:
      return acquiring(state, event, config);
  }
};
