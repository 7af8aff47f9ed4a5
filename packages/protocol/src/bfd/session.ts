/** The variables of a BFD session (RFC 5880 section 6.8.1), and the deadlines that follow from them. */
import type { BfdState } from './control-packet.ts';
import { BfdDiagnostic } from './control-packet.ts';

/** What the operator asks of a session. Intervals are in microseconds. */
export interface BfdSettings {
  /** The transmit interval that is wanted in Up, 1 to 4294967295. Outside Up it is a second at least. */
  readonly desiredMinTx: number;
  /** 1 to 4294967295. 0, "send me nothing", is not offered: there would be no detection. */
  readonly requiredMinRx: number;
  /** 1 to 255. */
  readonly detectMult: number;
}

/** What the last packet of the peer said. All of it is forgotten after a Detection Time without a packet. */
export interface BfdRemote {
  /** bfd.RemoteDiscr; 0 while unknown. */
  readonly discriminator: number;
  /** bfd.RemoteSessionState. */
  readonly state: BfdState;
  readonly diagnostic: number;
  /** bfd.RemoteDemandMode. */
  readonly demand: boolean;
  /** Desired Min TX Interval in microseconds. */
  readonly desiredMinTx: number;
  /** bfd.RemoteMinRxInterval in microseconds; 0: it wants no periodic packets. */
  readonly requiredMinRx: number;
  readonly detectMult: number;
}

/** One of our two intervals in microseconds: what our packets say, and what we go by until the peer has confirmed it. */
export interface BfdInterval {
  readonly advertised: number;
  readonly used: number;
}

/**
 * Where the Poll Sequence stands (RFC 5880 section 6.5): none, with the next packet, sent and not answered, or answered
 * and waiting for a packet without the Final bit, before which another one would be ambiguous (section 6.8.3).
 */
export type BfdPoll = 'none' | 'wanted' | 'sent' | 'settling';

/** A BFD session. Times are monotonic milliseconds. Never changed: `bfdStep` makes the next one. */
export interface BfdSession {
  readonly settings: BfdSettings;
  /** bfd.LocalDiscr. */
  readonly localDiscriminator: number;
  /** bfd.SessionState. */
  readonly state: BfdState;
  /** Since when it is in this state. */
  readonly since: number;
  /** bfd.LocalDiag. */
  readonly diagnostic: number;
  readonly remote: BfdRemote;
  /** bfd.DesiredMinTxInterval. */
  readonly tx: BfdInterval;
  /** bfd.RequiredMinRxInterval. */
  readonly rx: BfdInterval;
  readonly poll: BfdPoll;
  /** When the last packet left, other than answers to polls, and the part of the interval after which the next is due. */
  readonly sent: { readonly at: number; readonly factor: number } | undefined;
  /** When the last packet arrived. */
  readonly receivedAt: number | undefined;
}

/** The least Desired Min TX Interval outside Up in microseconds (RFC 5880 section 6.8.3). */
export const slowInterval = 1_000_000;

/** The least part of the interval between two packets that jitter leaves (RFC 5880 section 6.8.7). */
export const leastJitterFactor = 0.75;

/** The initial values of RFC 5880 section 6.8.1. */
export const unknownRemote: BfdRemote = {
  discriminator: 0,
  state: 'Down',
  diagnostic: BfdDiagnostic.None,
  demand: false,
  desiredMinTx: 0,
  requiredMinRx: 1,
  detectMult: 0,
};

const largest = 0xffff_ffff;

function checkRange(what: string, value: number, limit: number): void {
  if (!Number.isInteger(value) || value < 1 || value > limit) {
    throw new RangeError(`${what}: ${value}; allowed are whole numbers from 1 to ${limit}`);
  }
}

/** @throws RangeError naming what is out of range. */
export function checkBfdSettings({ desiredMinTx, requiredMinRx, detectMult }: BfdSettings): void {
  checkRange('BFD Desired Min TX Interval in microseconds', desiredMinTx, largest);
  checkRange('BFD Required Min RX Interval in microseconds', requiredMinRx, largest);
  checkRange('BFD Detect Mult', detectMult, 255);
}

/**
 * A session in Down that knows nothing of its peer; its first packet is due at once. The role is Active, as RFC 5881
 * section 3 wants it.
 * @param localDiscriminator random, unique among our sessions, not 0
 * @param now monotonic ms
 * @throws RangeError for settings or a discriminator that cannot be sent
 */
export function bfdSession(settings: BfdSettings, localDiscriminator: number, now: number): BfdSession {
  checkBfdSettings(settings);
  checkRange('BFD discriminator', localDiscriminator, largest);
  const tx = Math.max(slowInterval, settings.desiredMinTx);
  return {
    settings,
    localDiscriminator,
    state: 'Down',
    since: now,
    diagnostic: BfdDiagnostic.None,
    remote: unknownRemote,
    tx: { advertised: tx, used: tx },
    rx: { advertised: settings.requiredMinRx, used: settings.requiredMinRx },
    poll: 'none',
    sent: undefined,
    receivedAt: undefined,
  };
}

/** Whether the peer has asked us to send nothing periodic, and may (RFC 5880 section 6.6). */
export function isRemoteDemandActive({ state, remote }: BfdSession): boolean {
  return remote.demand && state === 'Up' && remote.state === 'Up';
}

/** Whether periodic packets are sent (RFC 5880 section 6.8.7). */
export function sendsPeriodically(session: BfdSession): boolean {
  if (session.remote.requiredMinRx === 0) return false;
  return !isRemoteDemandActive(session) || session.poll === 'wanted' || session.poll === 'sent';
}

/** The transmit interval in ms before jitter: the slower side decides (RFC 5880 section 6.8.7). */
export function bfdTransmitInterval({ tx, remote }: BfdSession): number {
  return Math.max(tx.used, remote.requiredMinRx) / 1000;
}

/** The Detection Time in ms (RFC 5880 section 6.8.4); `undefined` while no peer is known. */
export function bfdDetectionTime({ rx, remote }: BfdSession): number | undefined {
  if (remote.discriminator === 0) return undefined;
  return (remote.detectMult * Math.max(rx.used, remote.desiredMinTx)) / 1000;
}

/**
 * When the next periodic packet is due, in monotonic ms. It is worked out again from the last packet each time, so that
 * a change of any interval counts at once (RFC 5880 section 6.8.3).
 */
export function bfdTransmitAt(session: BfdSession): number | undefined {
  if (!sendsPeriodically(session)) return undefined;
  if (session.sent === undefined) return session.since;
  return session.sent.at + bfdTransmitInterval(session) * session.sent.factor;
}

/**
 * From when on the next periodic packet may leave (monotonic ms): jitter takes a quarter off the interval at most,
 * whatever the multiplier (RFC 5880 section 6.8.7).
 */
export function bfdTransmitFrom(session: BfdSession): number | undefined {
  if (!sendsPeriodically(session)) return undefined;
  if (session.sent === undefined) return session.since;
  return session.sent.at + bfdTransmitInterval(session) * leastJitterFactor;
}

/** When the peer has been silent for a Detection Time, in monotonic ms. */
export function bfdDetectAt(session: BfdSession): number | undefined {
  const time = bfdDetectionTime(session);
  return time === undefined || session.receivedAt === undefined ? undefined : session.receivedAt + time;
}
