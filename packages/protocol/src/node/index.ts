export type { DownKind } from '../index.ts';
export { BfdClient, type BfdClientHandlers } from './bfd-client.ts';
export { threadClock } from './bfd-clock.ts';
export { BfdEngine, type BfdEngineHandlers, type BfdEngineOptions } from './bfd-engine.ts';
export {
  type BfdAuthenticationSettings,
  bfdAuthenticationOf,
  bfdNonce,
  negotiatedBfdKey,
} from './bfd-key.ts';
export type { BfdPort, BfdReport, BfdRequest } from './bfd-message.ts';
export type {
  BfdReceiveOptions,
  BfdReceiver,
  BfdSender,
  BfdSendOptions,
  BfdSockets,
} from './bfd-sockets.ts';
export type {
  BfdAuthenticationStatus,
  BfdReceiveStatus,
  BfdScheduling,
  BfdSessionCounters,
  BfdSessionOptions,
  BfdSessionStatus,
  BfdStateChange,
  BfdStatus,
  BfdTiming,
} from './bfd-status.ts';
export {
  BFD_WORKER,
  BfdThread,
  type BfdThreadHandlers,
  type BfdThreadOptions,
  schedulingText,
} from './bfd-thread.ts';
export { runBfdWorker } from './bfd-worker.ts';
export type { Clock } from './clock.ts';
export { systemClock } from './clock.ts';
export type { Traffic } from './connection.ts';
export type { MessageCounts } from './message-counters.ts';
export { Peer } from './peer.ts';
export type { DescribedNotification, DownReason, PeerEvent } from './peer-event.ts';
export type {
  GracefulRestartSettings,
  PeerOptions,
  PeerRangeOptions,
  PeerSettings,
} from './peer-settings.ts';
export type { PeerStatus, TransitionStatus } from './peer-status.ts';
export { Reflection, type ReflectionOptions, type ReflectionRole } from './reflection.ts';
export type { ListeningSocket, SocketOptions, Sockets } from './sockets.ts';
export { plainSockets } from './sockets.ts';
export { BgpSpeaker, type SpeakerHandlers, type SpeakerOptions } from './speaker.ts';
