import type { Asn } from '../../types/asn.ts';
import { AS_TRANS, asn, isTwoOctetAsn } from '../../types/asn.ts';
import { AttributeError } from '../errors.ts';
import type { AsPathSegment } from '../path-attributes.ts';
import { SegmentType } from '../path-attributes.ts';
import type { Reader } from '../reader.ts';
import type { Writer } from '../writer.ts';

/** Segments hold at most 255 AS numbers: the count is one octet (RFC 4271 section 4.3). */
const MAX_SEGMENT_LENGTH = 255;

/**
 * Reads segments to the end of the reader, as AS_PATH and AS4_PATH both have them:
 *
 *     | segment type (1) | number of ASes (1) | AS numbers (2 or 4 each) | ...
 *
 * @throws AttributeError with `subcode`, OverrunError: RFC 7606 section 7.2.
 */
export function readSegments(reader: Reader, isFourOctet: boolean, subcode: number): AsPathSegment[] {
  const segments: AsPathSegment[] = [];
  while (reader.remaining > 0) {
    const type = reader.u8();
    const count = reader.u8();
    if (!isSegmentType(type)) throw new AttributeError(subcode, `segment type ${type}: allowed 1 to 4`);
    if (count === 0) throw new AttributeError(subcode, 'a segment without AS numbers');
    segments.push({ type, asns: readAsns(reader.sub(count * (isFourOctet ? 4 : 2)), isFourOctet, subcode) });
  }
  return segments;
}

function readAsns(reader: Reader, isFourOctet: boolean, subcode: number): readonly Asn[] {
  const asns: Asn[] = [];
  while (reader.remaining > 0) {
    const value = isFourOctet ? reader.u32() : reader.u16();
    // RFC 7607 section 2.
    if (value === 0) throw new AttributeError(subcode, 'AS 0 in a path');
    asns.push(asn(value));
  }
  return asns;
}

function isSegmentType(type: number): type is SegmentType {
  return type >= SegmentType.AsSet && type <= SegmentType.AsConfedSet;
}

/** Confederation segments do not leave the confederation (RFC 5065 section 5.3); we are in none. */
export function isConfederationSegment(segment: AsPathSegment): boolean {
  return segment.type === SegmentType.AsConfedSequence || segment.type === SegmentType.AsConfedSet;
}

/**
 * Writes segments; one of more than 255 AS numbers becomes several of the same type, none for no AS number at all.
 * In two octets AS_TRANS stands for what does not fit (RFC 6793 section 4.2.2).
 */
export function writeSegments(
  writer: Writer,
  segments: readonly AsPathSegment[],
  isFourOctet: boolean,
): void {
  for (const { type, asns } of segments) {
    for (let start = 0; start < asns.length; start += MAX_SEGMENT_LENGTH) {
      const part = asns.slice(start, start + MAX_SEGMENT_LENGTH);
      writer.u8(type);
      writer.u8(part.length);
      for (const value of part) {
        if (isFourOctet) writer.u32(value);
        else writer.u16(isTwoOctetAsn(value) ? value : AS_TRANS);
      }
    }
  }
}
