/**
 * Meticulous Keyed SHA1 (RFC 5880 section 6.7.4), below the state machine: what it refuses a session never sees.
 *
 * ```
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 * |  Auth Type 5  |  Auth Len 28  |  Auth Key ID  |   Reserved    |
 * |                        Sequence Number                        |
 * |                 Auth Key/Hash, 20 octets ...                  |
 * ```
 */
import type { BfdControlPacket, BfdState } from './control-packet.ts';

/** A shared secret (RFC 5880 section 6.7.4). */
export interface BfdKey {
  /** Auth Key ID, 0 to 255. */
  readonly id: number;
  /** 1 to 20 octets. */
  readonly secret: Uint8Array;
}

/** SHA-1 of some octets. */
export type Sha1 = (octets: Uint8Array) => Uint8Array;

/**
 * How a session is authenticated. `none`: not at all. `required`: from the first packet on. `negotiated`: by a key that both ends come to
 * agree on by other means, and as if there were none until then.
 */
export type BfdAuthenticationMode =
  | { readonly mode: 'none' }
  | { readonly mode: 'required'; readonly key: BfdKey }
  | { readonly mode: 'negotiated' };

/** The variables of RFC 5880 section 6.8.1 that are about authentication, but for bfd.XmitAuthSeq. Never changed. */
export interface BfdAuthentication {
  readonly mode: BfdAuthenticationMode['mode'];
  /** Packets are sent with it. One that was agreed on is kept after the agreement, until `forgetEndedKey`. */
  readonly key: BfdKey | undefined;
  /** The peer has said that it knows the key. */
  readonly isAgreed: boolean;
  /** Packets without a valid Authentication Section are discarded. */
  readonly isRequired: boolean;
  /** bfd.RcvAuthSeq, when it was heard (ms), and the Detection Time then; `undefined`: bfd.AuthSeqKnown is 0. */
  readonly received:
    | { readonly sequence: number; readonly at: number; readonly detectionTime: number }
    | undefined;
}

const meticulousKeyedSha1 = 5;
const sectionOffset = 24;
const sectionLength = 28;
const hashOffset = 32;
const hashLength = 20;
const signedLength = sectionOffset + sectionLength;
/** The Authentication Present bit, in the second octet. */
const presentBit = 0x04;

/** @throws RangeError for a key that cannot be sent */
export function bfdAuthentication(wanted: BfdAuthenticationMode): BfdAuthentication {
  const isRequired = wanted.mode === 'required';
  const key = wanted.mode === 'required' ? checkedKey(wanted.key) : undefined;
  return { mode: wanted.mode, key, isAgreed: false, isRequired, received: undefined };
}

function checkedKey(key: BfdKey): BfdKey {
  const { id, secret } = key;
  if (!Number.isInteger(id) || id < 0 || id > 255)
    throw new RangeError(`BFD key ID: ${id}; allowed are 0 to 255`);
  if (secret.length < 1 || secret.length > hashLength) {
    throw new RangeError(`BFD key: ${secret.length} octets; allowed are 1 to ${hashLength}`);
  }
  return key;
}

/**
 * A negotiated session: both ends have said that they know the key, or (`undefined`) what they agreed on has ended.
 *
 * The two ends never learn it at the same moment. So packets of all kinds are taken until the first that has the key, and it is sent on
 * after the end, as long as the session is Up: neither end is without packets that it takes at any moment.
 * @throws RangeError for a key that cannot be sent
 */
export function agreeOnKey(current: BfdAuthentication, key: BfdKey | undefined): BfdAuthentication {
  if (current.mode !== 'negotiated') return current;
  if (key === undefined) return { ...current, isAgreed: false, isRequired: false };
  const isKnown =
    current.key !== undefined && current.key.id === key.id && isEqual(current.key.secret, key.secret);
  return {
    ...current,
    key: checkedKey(key),
    isAgreed: true,
    isRequired: false,
    received: isKnown ? current.received : undefined,
  };
}

/**
 * Without the key of an agreement that has ended, once the session is in Down or Init: the system that it comes Up with next need not know
 * that key. AdminDown keeps it, since the peer may still take only packets that have it.
 */
export function forgetEndedKey(current: BfdAuthentication, state: BfdState): BfdAuthentication {
  const { mode, key, isAgreed } = current;
  const isEnded = mode === 'negotiated' && !isAgreed && key !== undefined;
  if (!isEnded || (state !== 'Down' && state !== 'Init')) return current;
  return { ...current, key: undefined, received: undefined };
}

/**
 * Whether a packet may be given to its session: the state after it, or `undefined` when it is to be discarded.
 * @param payload the packet as it arrived
 * @param packet the same, read by `decodeBfdControlPacket`
 * @param detectionTime what the packet makes of the Detection Time (ms)
 */
export function admitBfdPacket(
  current: BfdAuthentication,
  payload: Uint8Array,
  packet: BfdControlPacket,
  detectionTime: number,
  now: number,
  sha1: Sha1,
): BfdAuthentication | undefined {
  if (!packet.authenticationPresent) return current.isRequired ? undefined : current;
  if (current.mode === 'none') return undefined;
  const sequence = validSequence(current, payload, packet, now, sha1);
  // As good as one without a section, as long as those are taken.
  if (sequence === undefined) return current.isRequired ? undefined : current;
  const isRequired = current.isRequired || current.isAgreed;
  return { ...current, isRequired, received: { sequence, at: now, detectionTime } };
}

function validSequence(
  { key, received }: BfdAuthentication,
  payload: Uint8Array,
  { detectMult }: BfdControlPacket,
  now: number,
  sha1: Sha1,
): number | undefined {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
  if (key === undefined || payload.length < signedLength || view.getUint8(3) !== signedLength)
    return undefined;
  const isOurs =
    view.getUint8(sectionOffset) === meticulousKeyedSha1 &&
    view.getUint8(sectionOffset + 1) === sectionLength &&
    view.getUint8(sectionOffset + 2) === key.id;
  if (!isOurs) return undefined;
  const sequence = view.getUint32(sectionOffset + 4);
  // RFC 5880 section 6.8.1: forgotten after twice the Detection Time, so that a peer that begins again is heard again.
  if (received !== undefined && now - received.at < 2 * received.detectionTime) {
    const ahead = (sequence - received.sequence) >>> 0;
    if (ahead < 1 || ahead > 3 * detectMult) return undefined;
  }
  // A copy also of a Buffer, whose `slice` is none.
  const signed = new Uint8Array(payload.subarray(0, signedLength));
  return isEqual(hashOf(signed, key, sha1), payload.subarray(hashOffset, signedLength))
    ? sequence
    : undefined;
}

/** Whether the next packet of a session in this state is to have an Authentication Section. */
export function isBfdPacketSigned({ mode, key, isAgreed }: BfdAuthentication, state: BfdState): boolean {
  if (key === undefined) return false;
  return mode === 'required' || isAgreed || state === 'Up' || state === 'AdminDown';
}

/**
 * The packet with an Authentication Section.
 * @param octets of `encodeBfdControlPacket`
 * @param sequence bfd.XmitAuthSeq, another one with each packet
 */
export function signBfdPacket(octets: Uint8Array, key: BfdKey, sequence: number, sha1: Sha1): Uint8Array {
  const signed = new Uint8Array(signedLength);
  signed.set(octets.subarray(0, sectionOffset));
  const view = new DataView(signed.buffer);
  view.setUint8(1, view.getUint8(1) | presentBit);
  view.setUint8(3, signedLength);
  view.setUint8(sectionOffset, meticulousKeyedSha1);
  view.setUint8(sectionOffset + 1, sectionLength);
  view.setUint8(sectionOffset + 2, key.id);
  view.setUint32(sectionOffset + 4, sequence >>> 0);
  signed.set(hashOf(signed, key, sha1), hashOffset);
  return signed;
}

/** SHA-1 over the packet with the key in the place of the hash. It is written there. */
function hashOf(signed: Uint8Array, { secret }: BfdKey, sha1: Sha1): Uint8Array {
  signed.fill(0, hashOffset);
  signed.set(secret, hashOffset);
  return sha1(signed);
}

/** In a time that does not depend on where they differ. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (const [index, octet] of a.entries()) difference |= octet ^ (b[index] ?? 0);
  return difference === 0;
}
