export {
  config,
  negotiatedRestart,
  negotiatedWith,
  ourOpen,
  remoteOpen,
  sampleEvents,
  sampleStates,
} from '../fsm/kit/samples.ts';
export { actionText, stepText } from '../fsm/kit/summary.ts';
export { ManualClock, settle } from './kit/manual-clock.ts';
export { MemoryNetwork, MemorySocket } from './kit/memory-sockets.ts';
export { type Heard, PeerPair, type PeerPairOptions, type Side } from './kit/peer-pair.ts';
