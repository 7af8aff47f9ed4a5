/** Which address family the routes of an UPDATE are of, without reading them. */
import { type Family, familyOf, ipv4Unicast } from '../types/family.ts';
import { HEADER_LENGTH } from './constants.ts';
import { OverrunError } from './errors.ts';
import { Reader } from './reader.ts';

/** MP_REACH_NLRI and MP_UNREACH_NLRI (RFC 4760 sections 3 and 4): both begin with AFI and SAFI. */
const multiprotocol: readonly number[] = [14, 15];
/** The flag Extended Length (RFC 4271 section 4.3). */
const extendedLength = 0x10;

/**
 * The family of the first multiprotocol attribute of an UPDATE, else IPv4 unicast.
 * @param message a whole UPDATE, its header included
 * @returns undefined for a family that is not known, and for a message that cannot be read so far
 */
export function familyOfUpdate(message: Uint8Array): Family | undefined {
  try {
    const reader = Reader.of(message);
    reader.skip(HEADER_LENGTH);
    reader.skip(reader.u16());
    const attributes = reader.sub(reader.u16());
    while (attributes.remaining > 0) {
      const flags = attributes.u8();
      const code = attributes.u8();
      const value = attributes.sub((flags & extendedLength) === 0 ? attributes.u8() : attributes.u16());
      if (multiprotocol.includes(code)) return familyOf(value.u16(), value.u8());
    }
    return ipv4Unicast;
  } catch (error) {
    if (error instanceof OverrunError) return undefined;
    throw error;
  }
}
