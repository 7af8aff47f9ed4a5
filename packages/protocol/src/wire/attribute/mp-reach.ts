import type { Family } from '../../types/family.ts';
import { ipv4Unicast } from '../../types/family.ts';
import type { IpAddress } from '../../types/ip-address.ts';
import { ipAddress } from '../../types/ip-address.ts';
import { AttributeError, EncodeError } from '../errors.ts';
import { writeNlri } from '../nlri.ts';
import { NlriField } from '../nlri-field.ts';
import { UpdateSubcode } from '../notification-codes.ts';
import type { MpNextHop, MpReach } from '../path-attributes.ts';
import type { Reader } from '../reader.ts';
import type { AttributeCodec } from './codec.ts';
import { OPTIONAL_NON_TRANSITIVE } from './codec.ts';
import { negotiatedFamily, requireNegotiated } from './mp-family.ts';

/** Shortest MP_REACH_NLRI (RFC 7606 section 5.3). */
const MIN_LENGTH = 5;

/**
 * MP_REACH_NLRI (RFC 4760 section 3; next hop of IPv6: RFC 2545 section 3; malformed: RFC 7606 sections 5.3 and 7.11):
 *
 *     | AFI (2) | SAFI (1) | next hop length (1) | next hop | reserved (1) | NLRI |
 */
export const mpReach: AttributeCodec<MpReach, MpReach<NlriField>> = {
  code: 14,
  name: 'MP_REACH_NLRI',
  flags: OPTIONAL_NON_TRANSITIVE,
  onMalformed: 'session-reset',
  onWrongFlags: 'session-reset',
  lengthSubcode: UpdateSubcode.OptionalAttributeError,
  decode(reader, context, notes) {
    if (reader.remaining < MIN_LENGTH) {
      throw new AttributeError(
        UpdateSubcode.OptionalAttributeError,
        `length ${reader.remaining}: at least ${MIN_LENGTH}`,
      );
    }
    const afi = reader.u16();
    const safi = reader.u8();
    const family = negotiatedFamily(context, afi, safi);
    if (family === undefined) {
      notes.discarded(mpReach.code, 0, `AFI ${afi} SAFI ${safi} was not negotiated`);
      reader.skip(reader.remaining);
      return undefined;
    }
    const nextHop = readNextHop(reader.sub(reader.u8()), family);
    reader.skip(1);
    const nlri = NlriField.read(reader, family, context.addPathReceive.includes(family));
    return { family, nextHop, nlri };
  },
  encode(writer, { family, nextHop, nlri }, context) {
    requireNegotiated(context, family);
    writer.u16(family.afi);
    writer.u8(family.safi);
    const length = writer.reserve8();
    for (const address of nextHopAddresses(nextHop, family)) writer.bytes(address.bytes);
    writer.patch8(length);
    writer.u8(0);
    writeNlri(writer, nlri, context.addPathSend.includes(family));
  },
};

/** IPv4 has a next hop of 4 octets (RFC 8950 is never offered), IPv6 one of 16, or 32 with a link-local address. */
function readNextHop(reader: Reader, family: Family): MpNextHop {
  const length = reader.remaining;
  if (family === ipv4Unicast ? length !== 4 : length !== 16 && length !== 32) {
    const allowed = family === ipv4Unicast ? '4' : '16 or 32';
    throw new AttributeError(
      UpdateSubcode.OptionalAttributeError,
      `next hop of ${length} octets: expected ${allowed} for ${family.name}`,
    );
  }
  if (length === 32) return pairOf(ipAddress(reader.bytes(16)), ipAddress(reader.bytes(16)));
  return { address: ipAddress(reader.bytes(length)), linkLocal: undefined };
}

/** BIRD sends `::` beside the link-local address on a session between link-local addresses, FRR the link-local address twice. */
function pairOf(address: IpAddress, linkLocal: IpAddress): MpNextHop {
  const isUnspecified = address.bytes.every((octet) => octet === 0);
  return { address: isUnspecified ? linkLocal : address, linkLocal };
}

function nextHopAddresses({ address, linkLocal }: MpNextHop, family: Family): readonly IpAddress[] {
  const addresses = linkLocal === undefined ? [address] : [address, linkLocal];
  const isIpv4 = family === ipv4Unicast;
  if (addresses.some(({ version }) => version !== (isIpv4 ? 4 : 6)) || (isIpv4 && addresses.length > 1)) {
    throw new EncodeError(`the next hop does not fit ${family.name}`);
  }
  return addresses;
}
