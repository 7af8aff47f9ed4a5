import { asn } from '../../types/asn.ts';
import { NotificationError } from '../errors.ts';
import { NotificationCode, OpenSubcode } from '../notification-codes.ts';
import type { CapabilityCodec } from './codec.ts';

/** Support for 4-octet AS number (RFC 6793 section 3): the AS of the sender (4). */
export const fourOctetAs: CapabilityCodec<'four-octet-as'> = {
  name: 'four-octet-as',
  code: 65,
  decode(reader) {
    const value = reader.u32();
    // RFC 7607 section 2: AS 0 in an OPEN is a Bad Peer AS.
    if (value === 0 && reader.remaining === 0) {
      throw new NotificationError(
        NotificationCode.OpenMessageError,
        OpenSubcode.BadPeerAs,
        undefined,
        'AS 0',
      );
    }
    return value === 0 ? undefined : { name: 'four-octet-as', asn: asn(value) };
  },
  encode(writer, capability) {
    writer.u32(capability.asn);
  },
};
