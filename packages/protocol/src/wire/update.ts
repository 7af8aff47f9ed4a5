import { ipv4Unicast } from '../types/family.ts';
import type { DecodedAttributes } from './attribute/decode.ts';
import { decodeAttributes } from './attribute/decode.ts';
import { encodeAttributes } from './attribute/encode.ts';
import { Faults, noFaults, updateError } from './attribute/faults.ts';
import { as4Attributes, mergeAs4 } from './attribute/merge-as4.ts';
import { requireNegotiated } from './attribute/mp-family.ts';
import { mpReach as mpReachCodec } from './attribute/mp-reach.ts';
import { validateAttributes } from './attribute/validate.ts';
import type { AttributeMemory, RecalledAttributes } from './attribute-octets.ts';
import { MessageType } from './constants.ts';
import type { CodecContext } from './context.ts';
import { EncodeError } from './errors.ts';
import { beginMessage, endMessage } from './header.ts';
import type { DecodedUpdate, ReceivedUpdate, UpdateMessage } from './message.ts';
import { NlriError, writeNlri } from './nlri.ts';
import { NlriField } from './nlri-field.ts';
import { UpdateSubcode } from './notification-codes.ts';
import type { PathAttributes } from './path-attributes.ts';
import { pathAttributes } from './path-attributes.ts';
import { Reader } from './reader.ts';
import type { Writer } from './writer.ts';

const noAttributes: PathAttributes = pathAttributes({});
const noIpv4: NlriField = NlriField.of(ipv4Unicast, []);

/**
 * Reads an UPDATE (RFC 4271 section 4.3), but for its routes, which are checked and stay where they are:
 *
 *     | withdrawn routes length (2) | withdrawn routes | total path attribute length (2) | path attributes | NLRI (the rest) |
 *
 * Faults in attributes are handled by RFC 7606 and listed in the result.
 * @param memory what a path attributes field was read as before, so that it is not read again
 * @throws NotificationError where RFC 7606 leaves a session reset.
 */
export function readUpdate(reader: Reader, context: CodecContext, memory?: AttributeMemory): ReceivedUpdate {
  const withdrawn = readNlriField(lengthPrefixed(reader, 2), context);
  const attributesReader = lengthPrefixed(reader, 0);
  const isUsable = context.families.includes(ipv4Unicast);
  // Only fields without a fault are remembered, beside NLRI: such a one is as good as it was.
  const field =
    memory !== undefined && isUsable && reader.remaining > 0
      ? { octets: attributesReader.rest(), context }
      : undefined;
  const known = field === undefined || memory === undefined ? -1 : memory.recall(field);
  if (memory !== undefined && known >= 0) {
    return new RecalledUpdate(withdrawn, { memory, number: known }, readNlriField(reader, context));
  }
  const faults = new Faults();
  const attributes = decodeAttributes(attributesReader, context, faults);
  const announced = readNlriField(reader, context);
  if (!context.asn4) mergeAs4(attributes.values, faults);
  if (!isUsable && announced.length + withdrawn.length > 0) {
    faults.discarded(0, 0, `${ipv4Unicast.name} was not negotiated`);
  }
  const nlri = isUsable ? announced : noIpv4;
  const { mpReach, mpUnreach } = attributes.values;
  const isAnnouncement = nlri.length > 0 || (mpReach !== undefined && mpReach.nlri.length > 0);
  if (isAnnouncement) validateAttributes(attributes, nlri.length > 0, context, faults);
  if (faults.withdrawal !== undefined && attributes.hasOthers && !encodesReachable(attributes, announced)) {
    // RFC 7606 section 5.2: with no route to withdraw, who knows what was lost.
    throw faults.withdrawal;
  }
  const isPlain = faults.list.length === 0 && mpReach === undefined && mpUnreach === undefined;
  return {
    type: 'UPDATE',
    withdrawn: isUsable ? withdrawn : noIpv4,
    attributes: attributes.hasOthers ? pathAttributesOf(attributes, nlri.length > 0) : undefined,
    nlri,
    mpReach,
    mpUnreach,
    faults: faults.list,
    treatAsWithdraw: faults.withdrawal !== undefined,
    field: isPlain ? field : undefined,
    recalled: undefined,
  };
}

/**
 * Reads a Path Attributes field again that was read without a fault before, in the same context, beside NLRI.
 * @param octets the field without its length
 */
export function readPlainAttributes(octets: Uint8Array, context: CodecContext): PathAttributes {
  const faults = new Faults();
  const attributes = decodeAttributes(Reader.of(octets), context, faults);
  if (!context.asn4) mergeAs4(attributes.values, faults);
  return pathAttributesOf(attributes, true);
}

/** An UPDATE of IPv4 unicast without a fault, whose attributes have not been read yet. */
class RecalledUpdate implements ReceivedUpdate {
  readonly type = 'UPDATE';
  readonly withdrawn: NlriField;
  readonly recalled: RecalledAttributes;
  readonly nlri: NlriField;
  readonly mpReach: undefined;
  readonly mpUnreach: undefined;
  readonly faults: ReceivedUpdate['faults'] = noFaults;
  readonly treatAsWithdraw = false;
  readonly field: undefined;

  constructor(withdrawn: NlriField, recalled: RecalledAttributes, nlri: NlriField) {
    this.withdrawn = withdrawn;
    this.recalled = recalled;
    this.nlri = nlri;
  }

  get attributes(): PathAttributes {
    return this.recalled.memory.at(this.recalled.number);
  }
}

/** The same with an object for each route, which refer to nothing of the message. */
export function decodedUpdate(update: ReceivedUpdate): DecodedUpdate {
  const { attributes, mpReach, mpUnreach, faults, treatAsWithdraw } = update;
  return {
    type: 'UPDATE',
    attributes,
    faults,
    treatAsWithdraw,
    withdrawn: update.withdrawn.toList(),
    nlri: update.nlri.toList(),
    mpReach: mpReach && { ...mpReach, nlri: mpReach.nlri.toList() },
    mpUnreach: mpUnreach && { ...mpUnreach, nlri: mpUnreach.nlri.toList() },
  };
}

/** The same as if it had been received: for an UPDATE that was put together here. */
export function receivedUpdate(update: DecodedUpdate): ReceivedUpdate {
  const { withdrawn, nlri, mpReach, mpUnreach } = update;
  return {
    ...update,
    withdrawn: NlriField.of(ipv4Unicast, withdrawn),
    nlri: NlriField.of(ipv4Unicast, nlri),
    mpReach: mpReach && { ...mpReach, nlri: NlriField.of(mpReach.family, mpReach.nlri) },
    mpUnreach: mpUnreach && { ...mpUnreach, nlri: NlriField.of(mpUnreach.family, mpUnreach.nlri) },
    field: undefined,
    recalled: undefined,
  };
}

/** A field with a two-octet length before it, with `after` octets that must still follow: RFC 7606 section 3 (b). */
function lengthPrefixed(reader: Reader, after: number): Reader {
  const length = reader.remaining < 2 ? -1 : reader.u16();
  if (length < 0 || length + after > reader.remaining) {
    const reason = `a length of ${length} octets with ${reader.remaining} left`;
    throw updateError(UpdateSubcode.MalformedAttributeList, reason);
  }
  return reader.sub(length);
}

function readNlriField(reader: Reader, context: CodecContext): NlriField {
  if (reader.remaining === 0) return noIpv4;
  try {
    return NlriField.read(reader, ipv4Unicast, context.addPathReceive.includes(ipv4Unicast));
  } catch (error) {
    // RFC 7606 section 3 (j), 5.3: what cannot be parsed cannot be withdrawn.
    if (error instanceof NlriError) throw updateError(UpdateSubcode.InvalidNetworkField, error.message);
    throw error;
  }
}

/** MP_REACH_NLRI of a family that was not negotiated counts: its NLRI are there, only not for us. */
function encodesReachable(attributes: DecodedAttributes, announced: NlriField): boolean {
  if (announced.length > 0) return true;
  const { mpReach } = attributes.values;
  return attributes.seen(mpReachCodec.code) && (mpReach === undefined || mpReach.nlri.length > 0);
}

/** RFC 4760 section 3: NEXT_HOP belongs to the NLRI field; without one it is ignored beside MP_REACH_NLRI. */
function pathAttributesOf({ values, unknown, partial }: DecodedAttributes, hasNlri: boolean): PathAttributes {
  const mpNextHop = hasNlri ? undefined : values.mpReach?.nextHop;
  return {
    origin: values.origin,
    asPath: values.asPath,
    nextHop: mpNextHop === undefined ? values.nextHop : mpNextHop.address,
    linkLocalNextHop: mpNextHop?.linkLocal,
    multiExitDisc: values.multiExitDisc,
    localPref: values.localPref,
    atomicAggregate: values.atomicAggregate,
    aggregator: values.aggregator,
    communities: values.communities,
    originatorId: values.originatorId,
    clusterList: values.clusterList,
    extendedCommunities: values.extendedCommunities,
    largeCommunities: values.largeCommunities,
    unknown,
    partial,
  };
}

/**
 * @throws EncodeError when the message is too long, mixes what RFC 7606 section 5.1 keeps apart, lacks a mandatory
 * attribute, or is of a family that was not negotiated.
 */
export function encodeUpdate(message: UpdateMessage, context: CodecContext, writer: Writer): Uint8Array {
  checkSendable(message, context);
  const withPathId = context.addPathSend.includes(ipv4Unicast);
  beginMessage(writer, MessageType.Update);
  const withdrawnLength = writer.reserve16();
  writeNlri(writer, message.withdrawn, withPathId);
  writer.patch16(withdrawnLength);
  const attributesLength = writer.reserve16();
  writeAttributes(writer, message, context);
  writer.patch16(attributesLength);
  writeNlri(writer, message.nlri, withPathId);
  return endMessage(writer, context.maxSendLength);
}

function writeAttributes(writer: Writer, message: UpdateMessage, context: CodecContext): void {
  const { attributes, mpReach, mpUnreach } = message;
  const { as4Path, as4Aggregator } = context.asn4
    ? { as4Path: undefined, as4Aggregator: undefined }
    : as4Attributes(attributes?.asPath, attributes?.aggregator);
  const values = {
    ...(attributes ?? noAttributes),
    nextHop: mpReach === undefined ? attributes?.nextHop : undefined,
    mpReach,
    mpUnreach,
    as4Path,
    as4Aggregator,
  };
  encodeAttributes(writer, values, values, context);
}

function checkSendable(message: UpdateMessage, context: CodecContext): void {
  const { withdrawn, nlri, mpReach, mpUnreach, attributes } = message;
  const parts = [withdrawn.length > 0, nlri.length > 0, mpReach !== undefined, mpUnreach !== undefined];
  if (parts.filter(Boolean).length > 1) {
    throw new EncodeError(
      'one UPDATE carries one of withdrawn, nlri, mpReach, mpUnreach (RFC 7606 section 5.1)',
    );
  }
  if (mpReach === undefined && mpUnreach === undefined) requireNegotiated(context, ipv4Unicast);
  if (nlri.length > 0 || mpReach !== undefined) {
    requireMandatory('origin', attributes);
    requireMandatory('asPath', attributes);
    if (nlri.length > 0) requireMandatory('nextHop', attributes);
    if (context.isInternal) requireMandatory('localPref', attributes);
  }
}

function requireMandatory(field: keyof PathAttributes, attributes: PathAttributes | undefined): void {
  if (attributes?.[field] === undefined) throw new EncodeError(`routes are announced without ${field}`);
}
