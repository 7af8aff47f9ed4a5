import { UpdateSubcode } from '../notification-codes.ts';
import type { Aggregator } from '../path-attributes.ts';
import { readAggregator, writeAggregator } from './aggregator.ts';
import type { AttributeCodec } from './codec.ts';
import { OPTIONAL_TRANSITIVE } from './codec.ts';

/** AS4_AGGREGATOR (RFC 6793 section 3; malformed, or from a peer with 4-octet AS numbers: section 6 of it). */
export const as4Aggregator: AttributeCodec<Aggregator> = {
  code: 18,
  name: 'AS4_AGGREGATOR',
  flags: OPTIONAL_TRANSITIVE,
  onMalformed: 'attribute-discard',
  onWrongFlags: 'attribute-discard',
  lengthSubcode: UpdateSubcode.OptionalAttributeError,
  decode(reader, context, notes) {
    if (context.asn4) {
      const reason = 'from a peer with 4-octet AS numbers';
      notes.discarded(as4Aggregator.code, UpdateSubcode.OptionalAttributeError, reason);
      reader.skip(reader.remaining);
      return undefined;
    }
    return readAggregator(reader, true);
  },
  encode(writer, value) {
    writeAggregator(writer, value, true);
  },
};
