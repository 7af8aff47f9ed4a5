import type { CodecContext } from '../context.ts';
import { EncodeError } from '../errors.ts';
import type { PathAttributes, RawAttribute } from '../path-attributes.ts';
import type { Writer } from '../writer.ts';
import type { AttributeValues } from './codec.ts';
import { AttributeFlag, OPTIONAL_TRANSITIVE } from './codec.ts';
import { mpReach } from './mp-reach.ts';
import { mpUnreach } from './mp-unreach.ts';
import type { AttributeEntry } from './registry.ts';
import { attributeEntries, attributeEntry } from './registry.ts';

const first = attributeEntries.filter(carriesNlri);
const others = attributeEntries.filter((entry) => !carriesNlri(entry));

function carriesNlri(entry: AttributeEntry): boolean {
  return entry.code === mpReach.code || entry.code === mpUnreach.code;
}

/**
 * Writes the Path Attributes field: MP_REACH_NLRI or MP_UNREACH_NLRI first (RFC 7606 section 5.1), then by ascending type code
 * (RFC 4271 section 5). A Partial bit that an attribute came with stays. What is for internal peers only is left out towards others.
 */
export function encodeAttributes(
  writer: Writer,
  values: AttributeValues,
  { unknown, partial }: Pick<PathAttributes, 'unknown' | 'partial'>,
  context: CodecContext,
): void {
  for (const entry of first) writeKnown(writer, entry, values, partial, context);
  const raw = unknown.length < 2 ? unknown : [...unknown].sort((a, b) => a.code - b.code);
  let next = 0;
  for (const entry of others) {
    for (
      let attribute = raw[next];
      attribute !== undefined && attribute.code < entry.code;
      attribute = raw[next]
    ) {
      writeUnknown(writer, attribute);
      next++;
    }
    writeKnown(writer, entry, values, partial, context);
  }
  for (const attribute of raw.slice(next)) writeUnknown(writer, attribute);
}

function writeKnown(
  writer: Writer,
  entry: AttributeEntry,
  values: AttributeValues,
  partial: readonly number[] | undefined,
  context: CodecContext,
): void {
  if (!entry.has(values)) return;
  if (entry.isInternalOnly === true && !context.isInternal) return;
  const isPartial = entry.flags === OPTIONAL_TRANSITIVE && partial?.includes(entry.code) === true;
  const flags = isPartial ? entry.flags | AttributeFlag.Partial : entry.flags;
  const length = beginAttribute(writer, flags, entry.code);
  entry.encodeFrom(writer, values, context);
  endAttribute(writer, length);
}

function writeUnknown(writer: Writer, { code, flags, value }: RawAttribute): void {
  if (attributeEntry(code) !== undefined) {
    throw new EncodeError(`attribute type ${code} is not unknown: it has a field of its own`);
  }
  const length = beginAttribute(writer, flags & ~AttributeFlag.ExtendedLength & 0xf0, code);
  writer.bytes(value);
  endAttribute(writer, length);
}

/** Writes flags and type, and returns where the length belongs: one octet until it proves too small. */
function beginAttribute(writer: Writer, flags: number, code: number): number {
  writer.u8(flags);
  writer.u8(code);
  return writer.reserve8();
}

/** Extended Length is set only for values of more than 255 octets (RFC 4271 section 4.3). */
function endAttribute(writer: Writer, lengthAt: number): void {
  if (writer.length - lengthAt - 1 <= 255) {
    writer.patch8(lengthAt);
    return;
  }
  writer.widen(lengthAt);
  writer.set8(lengthAt - 2, writer.at(lengthAt - 2) | AttributeFlag.ExtendedLength);
  writer.patch16(lengthAt);
}
