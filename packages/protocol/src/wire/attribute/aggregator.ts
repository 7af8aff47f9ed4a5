import { AS_TRANS, asn, isTwoOctetAsn } from '../../types/asn.ts';
import { ipAddress } from '../../types/ip-address.ts';
import { AttributeError, EncodeError } from '../errors.ts';
import { UpdateSubcode } from '../notification-codes.ts';
import type { Aggregator } from '../path-attributes.ts';
import type { Reader } from '../reader.ts';
import type { Writer } from '../writer.ts';
import type { AttributeCodec } from './codec.ts';
import { OPTIONAL_TRANSITIVE } from './codec.ts';

/** AGGREGATOR (RFC 4271 section 5.1.7; malformed: RFC 7606 sections 3 (f) and 7.7): AS (2 or 4), IPv4 address (4). */
export const aggregator: AttributeCodec<Aggregator> = {
  code: 7,
  name: 'AGGREGATOR',
  flags: OPTIONAL_TRANSITIVE,
  onMalformed: 'attribute-discard',
  onWrongFlags: 'attribute-discard',
  lengthSubcode: UpdateSubcode.AttributeLengthError,
  decode(reader, context) {
    return readAggregator(reader, context.asn4);
  },
  encode(writer, value, context) {
    writeAggregator(writer, value, context.asn4);
  },
};

/** Reads the value of AGGREGATOR and AS4_AGGREGATOR. RFC 7607 section 2 makes AS 0 malformed in both. */
export function readAggregator(reader: Reader, isFourOctet: boolean): Aggregator {
  const value = isFourOctet ? reader.u32() : reader.u16();
  const address = ipAddress(reader.bytes(4));
  if (value === 0) throw new AttributeError(UpdateSubcode.OptionalAttributeError, 'AS 0 as aggregator');
  return { asn: asn(value), address };
}

export function writeAggregator(writer: Writer, value: Aggregator, isFourOctet: boolean): void {
  if (value.address.version !== 4) throw new EncodeError('AGGREGATOR holds an IPv4 address only');
  if (isFourOctet) writer.u32(value.asn);
  else writer.u16(isTwoOctetAsn(value.asn) ? value.asn : AS_TRANS);
  writer.bytes(value.address.bytes);
}
