import { UpdateSubcode } from '../notification-codes.ts';
import type { AttributeCodec } from './codec.ts';
import { WELL_KNOWN } from './codec.ts';

/** ATOMIC_AGGREGATE (RFC 4271 section 5.1.6; malformed: RFC 7606 sections 3 (f) and 7.6). Its presence says all. */
export const atomicAggregate: AttributeCodec<true> = {
  code: 6,
  name: 'ATOMIC_AGGREGATE',
  flags: WELL_KNOWN,
  onMalformed: 'attribute-discard',
  onWrongFlags: 'attribute-discard',
  lengthSubcode: UpdateSubcode.AttributeLengthError,
  decode() {
    return true;
  },
  encode() {},
};
