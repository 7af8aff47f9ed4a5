import { routerId } from '../types/router-id.ts';
import { readCapabilities, writeCapability } from './capability/capabilities.ts';
import type { Capability } from './capability/capability.ts';
import { BGP_VERSION, MAX_MESSAGE_LENGTH, MessageType } from './constants.ts';
import { EncodeError, NotificationError, OverrunError } from './errors.ts';
import { beginMessage, endMessage } from './header.ts';
import type { OpenMessage } from './message.ts';
import { NotificationCode, OpenSubcode } from './notification-codes.ts';
import type { Reader } from './reader.ts';
import { Writer } from './writer.ts';

/** Optional parameter types: RFC 5492 section 4, RFC 9072 section 2. */
const CAPABILITIES = 2;
const EXTENDED_LENGTH = 255;
/** The most capability octets that one parameter of the short form holds beside its own two. */
const MAX_SHORT_CAPABILITIES = 253;

/**
 * OPEN (RFC 4271 section 4.2):
 *
 *     | version (1) | my AS (2) | hold time (2) | BGP identifier (4) | parameters length (1) | parameters |
 *
 * Checks what RFC 4271 section 6.2 lets be judged without configuration; whether the AS is the expected one is for `negotiate`.
 */
export function decodeOpen(reader: Reader): OpenMessage {
  const version = reader.u8();
  if (version !== BGP_VERSION) {
    const supported = Uint8Array.of(0, BGP_VERSION);
    throw openError(OpenSubcode.UnsupportedVersionNumber, `version ${version}`, supported);
  }
  const myAs = reader.u16();
  // RFC 7607 section 2.
  if (myAs === 0) throw openError(OpenSubcode.BadPeerAs, 'AS 0');
  const holdTime = reader.u16();
  if (holdTime === 1 || holdTime === 2) {
    throw openError(OpenSubcode.UnacceptableHoldTime, `${holdTime} s: allowed 0 or at least 3`);
  }
  const identifier = reader.u32();
  // RFC 6286 section 2.2: zero is the one value that is wrong in itself.
  if (identifier === 0) throw openError(OpenSubcode.BadBgpIdentifier, '0.0.0.0');
  const capabilities = readParameters(reader);
  return { type: 'OPEN', version, myAs, holdTime, bgpIdentifier: routerId(identifier), capabilities };
}

function openError(subcode: number, reason: string, data?: Uint8Array): NotificationError {
  return new NotificationError(NotificationCode.OpenMessageError, subcode, data, reason);
}

/** Every length that does not add up is a malformed parameter: subcode 0 (RFC 4271 section 6.2). */
function readParameters(reader: Reader): readonly Capability[] {
  try {
    return readParameterField(reader);
  } catch (error) {
    if (!(error instanceof OverrunError)) throw error;
    throw openError(OpenSubcode.Unspecific, `optional parameters: ${error.message}`);
  }
}

function readParameterField(reader: Reader): readonly Capability[] {
  const shortLength = reader.u8();
  // RFC 9072 section 2: type 255 in the first place announces two-octet lengths, whatever the one-octet length says.
  const isExtended = shortLength !== 0 && reader.peek8() === EXTENDED_LENGTH;
  if (isExtended) reader.skip(1);
  const field = reader.sub(isExtended ? reader.u16() : shortLength);
  if (reader.remaining > 0) {
    throw openError(OpenSubcode.Unspecific, `${reader.remaining} octets after the optional parameters`);
  }
  const capabilities: Capability[] = [];
  while (field.remaining > 0) {
    const type = field.u8();
    const value = field.sub(isExtended ? field.u16() : field.u8());
    if (type !== CAPABILITIES) throw openError(OpenSubcode.UnsupportedOptionalParameter, `type ${type}`);
    readCapabilities(value, capabilities);
  }
  return capabilities;
}

/** All capabilities go into one parameter; the form of RFC 9072 is used only where they need it. Never over 4096 octets (RFC 8654 section 4). */
export function encodeOpen(message: OpenMessage, writer: Writer): Uint8Array {
  if (message.holdTime === 1 || message.holdTime === 2) {
    throw new EncodeError(`hold time ${message.holdTime} s: allowed 0 or at least 3`);
  }
  const capabilities = encodeCapabilities(message.capabilities);
  beginMessage(writer, MessageType.Open);
  writer.u8(message.version);
  writer.u16(message.myAs);
  writer.u16(message.holdTime);
  writer.u32(message.bgpIdentifier);
  writeParameters(writer, capabilities);
  return endMessage(writer, MAX_MESSAGE_LENGTH);
}

function encodeCapabilities(capabilities: readonly Capability[]): Uint8Array {
  const writer = new Writer();
  for (const capability of capabilities) writeCapability(writer, capability);
  return writer.take();
}

function writeParameters(writer: Writer, capabilities: Uint8Array): void {
  const { length } = capabilities;
  if (length === 0) {
    writer.u8(0);
    return;
  }
  if (length <= MAX_SHORT_CAPABILITIES) {
    writer.u8(length + 2);
    writer.u8(CAPABILITIES);
    writer.u8(length);
  } else {
    writer.u8(EXTENDED_LENGTH);
    writer.u8(EXTENDED_LENGTH);
    writer.u16(length + 3);
    writer.u8(CAPABILITIES);
    writer.u16(length);
  }
  writer.bytes(capabilities);
}
