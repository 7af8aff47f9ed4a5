export type { DownKind } from '../index.ts';
export type { Clock } from './clock.ts';
export { systemClock } from './clock.ts';
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
export type { ListeningSocket, SocketOptions, Sockets } from './sockets.ts';
export { plainSockets } from './sockets.ts';
export { BgpSpeaker, type SpeakerHandlers, type SpeakerOptions } from './speaker.ts';
