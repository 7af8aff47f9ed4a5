import type { Tone } from '../parts/state-mark.tsx';

/** How good the state of a member is. */
export function memberTone(state: string): Tone {
  if (state === 'active') return 'good';
  return state === 'out' ? 'bad' : 'warn';
}

/** How good the state of a session of BGP or BFD is. */
export function sessionTone(state: string): Tone {
  if (state === 'Established' || state === 'Up') return 'good';
  return state === 'off' || state === 'none' ? 'idle' : 'bad';
}

/** How good an answer of the health check is. */
export function healthTone(health: string): Tone {
  if (health === 'passing') return 'good';
  return health === 'unknown' ? 'idle' : 'bad';
}
