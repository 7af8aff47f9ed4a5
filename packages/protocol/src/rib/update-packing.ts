import type { Family } from '../types/family.ts';
import { ipv4Unicast } from '../types/family.ts';
import { formatIpAddress } from '../types/ip-address.ts';
import { MAX_EXTENDED_MESSAGE_LENGTH } from '../wire/constants.ts';
import type { CodecContext } from '../wire/context.ts';
import { EncodeError } from '../wire/errors.ts';
import type { UpdateMessage } from '../wire/message.ts';
import { encodeMessage } from '../wire/message-codec.ts';
import type { Nlri } from '../wire/nlri.ts';
import { nlriLength } from '../wire/nlri.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';

/** An announcement that no message can carry, and why. */
export interface UnpackedNlri {
  readonly nlri: Nlri;
  readonly reason: string;
}

export interface PackedAnnouncements {
  readonly messages: readonly UpdateMessage[];
  readonly failed: readonly UnpackedNlri[];
}

/** Header, Withdrawn Routes Length, Total Path Attribute Length (RFC 4271 sections 4.1 and 4.3). */
const EMPTY_UPDATE_LENGTH = 19 + 2 + 2;
/** Flags, type and one octet of length; AFI and SAFI (RFC 4760 section 4). */
const MP_UNREACH_LENGTH = 3 + 3;

const nothing: UpdateMessage = {
  type: 'UPDATE',
  withdrawn: [],
  attributes: undefined,
  nlri: [],
  mpReach: undefined,
  mpUnreach: undefined,
};

/**
 * Puts withdrawals into as few UPDATEs as hold them: IPv4 in the Withdrawn Routes field, others in MP_UNREACH_NLRI.
 * They share no message with announcements: RFC 7606 section 5.1.
 */
export function packWithdrawals(
  family: Family,
  withdrawn: readonly Nlri[],
  context: CodecContext,
): readonly UpdateMessage[] {
  if (family === ipv4Unicast) {
    const runs = splitToFit(withdrawn, (octets) => EMPTY_UPDATE_LENGTH + octets <= context.maxSendLength);
    return runs.map((run) => ({ ...nothing, withdrawn: run }));
  }
  const fits = (octets: number): boolean =>
    EMPTY_UPDATE_LENGTH + MP_UNREACH_LENGTH + octets + extendedLength(3 + octets) <= context.maxSendLength;
  return splitToFit(withdrawn, fits).map((nlri) => ({ ...nothing, mpUnreach: { family, nlri } }));
}

/**
 * Puts announcements of one set of attributes into as few UPDATEs as hold them: IPv4 in the NLRI field, IPv6 in
 * MP_REACH_NLRI. An announcement that not even a message of its own can hold is in `failed`.
 */
export function packAnnouncements(
  family: Family,
  attributes: PathAttributes,
  announced: readonly Nlri[],
  context: CodecContext,
): PackedAnnouncements {
  const refusal = nextHopRefusal(family, attributes);
  if (refusal !== undefined)
    return { messages: [], failed: announced.map((nlri) => ({ nlri, reason: refusal })) };
  const make = messageMaker(family, attributes);
  const first = announced[0];
  if (first === undefined) return { messages: [], failed: [] };
  const length = lengthOf(make, first, context);
  if (typeof length === 'string')
    return { messages: [], failed: announced.map((nlri) => ({ nlri, reason: length })) };
  const fits = (octets: number): boolean => length(octets) <= context.maxSendLength;
  const fitting = announced.filter((nlri) => fits(octetsOf(nlri)));
  const failed = announced
    .filter((nlri) => !fits(octetsOf(nlri)))
    .map((nlri) => ({ nlri, reason: tooLong(length(octetsOf(nlri)), context.maxSendLength) }));
  return { messages: splitToFit(fitting, fits).map(make), failed };
}

/** As `packAnnouncements`, encoded. Most often one message holds them all, which is tried first. */
export function encodeAnnouncements(
  family: Family,
  attributes: PathAttributes,
  announced: readonly Nlri[],
  context: CodecContext,
): { readonly messages: readonly Uint8Array[]; readonly failed: readonly UnpackedNlri[] } {
  const octets = announced.reduce((sum, nlri) => sum + octetsOf(nlri), 0);
  if (octets <= context.maxSendLength / 2 && nextHopRefusal(family, attributes) === undefined) {
    try {
      const message = messageMaker(family, attributes)(announced);
      return { messages: [encodeMessage(message, context)], failed: [] };
    } catch (error) {
      if (!(error instanceof EncodeError)) throw error;
    }
  }
  const { messages, failed } = packAnnouncements(family, attributes, announced, context);
  return { messages: messages.map((message) => encodeMessage(message, context)), failed };
}

function messageMaker(family: Family, attributes: PathAttributes): (nlri: readonly Nlri[]) => UpdateMessage {
  if (family === ipv4Unicast) return (nlri) => ({ ...nothing, attributes, nlri });
  const { nextHop, linkLocalNextHop } = attributes;
  // NEXT_HOP does not go with routes in MP_REACH_NLRI (RFC 4760 section 3).
  const others = { ...attributes, nextHop: undefined, linkLocalNextHop: undefined };
  return (nlri) => ({
    ...nothing,
    attributes: others,
    mpReach: nextHop && { family, nextHop: { address: nextHop, linkLocal: linkLocalNextHop }, nlri },
  });
}

/** IPv4 routes over an IPv6 next hop (RFC 8950) need a capability that this library does not offer. */
function nextHopRefusal(family: Family, { nextHop }: PathAttributes): string | undefined {
  if (nextHop === undefined) return 'it has no next hop';
  const version = family === ipv4Unicast ? 4 : 6;
  if (nextHop.version === version) return undefined;
  return `its next hop ${formatIpAddress(nextHop)} is not IPv${version}, and RFC 8950 was not negotiated`;
}

/** The length of a message as a function of the octets of its NLRI, or why there is no such message. */
function lengthOf(
  make: (nlri: readonly Nlri[]) => UpdateMessage,
  first: Nlri,
  context: CodecContext,
): ((octets: number) => number) | string {
  const sample = make([first]);
  const sampleOctets = octetsOf(first);
  let fixed: number;
  try {
    const unbounded = { ...context, maxSendLength: MAX_EXTENDED_MESSAGE_LENGTH };
    fixed = encodeMessage(sample, unbounded).length - sampleOctets;
  } catch (error) {
    if (error instanceof EncodeError) return error.message;
    throw error;
  }
  const { mpReach } = sample;
  if (mpReach === undefined) return (octets) => fixed + octets;
  const { address, linkLocal } = mpReach.nextHop;
  // AFI, SAFI, next hop length, next hop, reserved octet (RFC 4760 section 3).
  const value = 3 + 1 + address.bytes.length + (linkLocal?.bytes.length ?? 0) + 1;
  const base = fixed - extendedLength(value + sampleOctets);
  return (octets) => base + octets + extendedLength(value + octets);
}

/** Cuts the list into the longest runs whose octets fit a message. An entry that does not fit alone gets a run of its own. */
function splitToFit(nlri: readonly Nlri[], fits: (octets: number) => boolean): readonly (readonly Nlri[])[] {
  const runs: Nlri[][] = [];
  let run: Nlri[] = [];
  let octets = 0;
  for (const entry of nlri) {
    const length = octetsOf(entry);
    if (run.length === 0 || !fits(octets + length)) {
      run = [];
      runs.push(run);
      octets = 0;
    }
    run.push(entry);
    octets += length;
  }
  return runs;
}

function octetsOf({ prefix, pathId }: Nlri): number {
  return nlriLength(prefix, pathId !== undefined);
}

/** An attribute value of more than 255 octets has a second octet of length (RFC 4271 section 4.3). */
function extendedLength(value: number): number {
  return value > 255 ? 1 : 0;
}

function tooLong(length: number, limit: number): string {
  return `a message of ${length} octets would carry it, the peer takes ${limit} (RFC 8654 section 4)`;
}
