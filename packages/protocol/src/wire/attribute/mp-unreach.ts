import { writeNlri } from '../nlri.ts';
import { NlriField } from '../nlri-field.ts';
import { UpdateSubcode } from '../notification-codes.ts';
import type { MpUnreach } from '../path-attributes.ts';
import type { AttributeCodec } from './codec.ts';
import { OPTIONAL_NON_TRANSITIVE } from './codec.ts';
import { negotiatedFamily, requireNegotiated } from './mp-family.ts';

/**
 * MP_UNREACH_NLRI (RFC 4760 section 4; malformed: RFC 7606 sections 5.3 and 7.12):
 *
 *     | AFI (2) | SAFI (1) | withdrawn routes |
 */
export const mpUnreach: AttributeCodec<MpUnreach, MpUnreach<NlriField>> = {
  code: 15,
  name: 'MP_UNREACH_NLRI',
  flags: OPTIONAL_NON_TRANSITIVE,
  onMalformed: 'session-reset',
  onWrongFlags: 'session-reset',
  lengthSubcode: UpdateSubcode.OptionalAttributeError,
  decode(reader, context, notes) {
    const afi = reader.u16();
    const safi = reader.u8();
    const family = negotiatedFamily(context, afi, safi);
    if (family === undefined) {
      notes.discarded(mpUnreach.code, 0, `AFI ${afi} SAFI ${safi} was not negotiated`);
      reader.skip(reader.remaining);
      return undefined;
    }
    return { family, nlri: NlriField.read(reader, family, context.addPathReceive.includes(family)) };
  },
  encode(writer, { family, nlri }, context) {
    requireNegotiated(context, family);
    writer.u16(family.afi);
    writer.u8(family.safi);
    writeNlri(writer, nlri, context.addPathSend.includes(family));
  },
};
