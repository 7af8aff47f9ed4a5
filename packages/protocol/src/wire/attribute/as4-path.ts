import { AttributeError } from '../errors.ts';
import { UpdateSubcode } from '../notification-codes.ts';
import type { AsPathSegment } from '../path-attributes.ts';
import { isConfederationSegment, readSegments, writeSegments } from './as-path-segments.ts';
import type { AttributeCodec } from './codec.ts';
import { OPTIONAL_TRANSITIVE } from './codec.ts';

/** AS4_PATH (RFC 6793 section 3; malformed, or from a peer with 4-octet AS numbers: section 6 of it). */
export const as4Path: AttributeCodec<readonly AsPathSegment[]> = {
  code: 17,
  name: 'AS4_PATH',
  flags: OPTIONAL_TRANSITIVE,
  onMalformed: 'attribute-discard',
  onWrongFlags: 'attribute-discard',
  lengthSubcode: UpdateSubcode.OptionalAttributeError,
  decode(reader, context, notes) {
    if (context.asn4) {
      notes.discarded(
        as4Path.code,
        UpdateSubcode.OptionalAttributeError,
        'from a peer with 4-octet AS numbers',
      );
      reader.skip(reader.remaining);
      return undefined;
    }
    const segments = readSegments(reader, true, UpdateSubcode.OptionalAttributeError);
    if (segments.length === 0) throw new AttributeError(UpdateSubcode.OptionalAttributeError, 'no segment');
    const kept = segments.filter((segment) => !isConfederationSegment(segment));
    if (kept.length < segments.length) {
      notes.discarded(as4Path.code, UpdateSubcode.OptionalAttributeError, 'confederation segments left out');
    }
    return kept;
  },
  encode(writer, value) {
    writeSegments(writer, value, true);
  },
};
