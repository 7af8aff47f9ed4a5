import { AttributeError } from '../errors.ts';
import { UpdateSubcode } from '../notification-codes.ts';
import type { AsPathSegment } from '../path-attributes.ts';
import { isConfederationSegment, readSegments, writeSegments } from './as-path-segments.ts';
import type { AttributeCodec } from './codec.ts';
import { WELL_KNOWN } from './codec.ts';

/**
 * AS_PATH (RFC 4271 section 5.1.2; malformed: RFC 7606 section 7.2). May be empty.
 * Whether an AS_SET is taken is for `validateAttributes` to say (RFC 9774 section 3).
 */
export const asPath: AttributeCodec<readonly AsPathSegment[]> = {
  code: 2,
  name: 'AS_PATH',
  flags: WELL_KNOWN,
  onMalformed: 'treat-as-withdraw',
  onWrongFlags: 'treat-as-withdraw',
  lengthSubcode: UpdateSubcode.MalformedAsPath,
  decode(reader, context) {
    const segments = readSegments(reader, context.asn4, UpdateSubcode.MalformedAsPath);
    if (segments.some(isConfederationSegment)) {
      // RFC 5065 section 5: from a peer that is in no confederation with us.
      throw new AttributeError(UpdateSubcode.MalformedAsPath, 'a confederation segment');
    }
    return segments;
  },
  encode(writer, value, context) {
    writeSegments(writer, value, context.asn4);
  },
};
