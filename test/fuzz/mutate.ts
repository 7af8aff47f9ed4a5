/** Damages a message where its fields are, so that what is around the damage still makes sense. */
import type { Random } from './random.ts';

/** Header (RFC 4271 section 4.1). */
const HEADER = 19;
/** Values that sit at the edges of fields. */
const edges = [0, 1, 2, 3, 4, 5, 15, 16, 31, 32, 33, 63, 64, 127, 128, 129, 254, 255];

/** A path attribute, or a capability: something with a code, a length and a value. */
interface Item {
  flags: number;
  code: number;
  value: Uint8Array;
  /** What the length field says beyond the truth. */
  lie: number;
  isExtended: boolean;
}

/** A copy of the message with one to four fields changed. @param other another message, whose fields may be put in */
export function mutate(message: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  let bytes = message;
  const times = 1 + random.below(4);
  for (let n = 0; n < times; n++) {
    bytes = random.below(3) === 0 ? mutateOctets(bytes, random) : mutateFields(bytes, other, random);
  }
  return bytes;
}

function mutateFields(bytes: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  if (bytes[18] === 2) return mutateUpdate(bytes, other, random);
  if (bytes[18] === 1) return mutateOpen(bytes, random);
  return mutateOctets(bytes, random);
}

/** Header fields, single octets, ends. */
function mutateOctets(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = Uint8Array.from(bytes);
  switch (random.below(6)) {
    case 0:
      copy[random.below(HEADER)] = random.of(edges);
      return copy;
    case 1:
      return withLength(copy.subarray(0, Math.max(HEADER, copy.length - 1 - random.below(8))));
    case 2:
      return withLength(concat([copy, random.octets(1 + random.below(8))]));
    case 3:
      if (copy.length > 17) copy[17] = (copy[17] ?? 0) + random.below(5) - 2;
      return copy;
    default:
      if (copy.length > HEADER) copy[HEADER + random.below(copy.length - HEADER)] = random.of(edges);
      return copy;
  }
}

function mutateUpdate(bytes: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  const parts = readUpdate(bytes);
  if (parts === undefined) return mutateOctets(bytes, random);
  const { attributes } = parts;
  if (random.below(8) === 0) parts.nlri = damageNlri(parts.nlri, random);
  else if (random.below(10) === 0) parts.withdrawn = damageNlri(parts.withdrawn, random);
  else if (random.below(12) === 0) attributes.push(...(readUpdate(other)?.attributes ?? []));
  else if (random.below(16) === 0) parts.lengthLie = random.below(9) - 4;
  else mutateItems(attributes, random);
  const field = concat(attributes.map(writeAttribute));
  const body = [
    u16(parts.withdrawn.length),
    parts.withdrawn,
    u16(Math.max(0, field.length + parts.lengthLie)),
    field,
    parts.nlri,
  ];
  return withLength(concat([bytes.subarray(0, HEADER), ...body]));
}

/** Capabilities, in one parameter of the short form (RFC 5492 section 4). */
function mutateOpen(bytes: Uint8Array, random: Random): Uint8Array {
  const items = readCapabilities(bytes);
  if (items === undefined) return mutateOctets(bytes, random);
  mutateItems(items, random);
  const field = concat(
    items.map(({ code, value, lie }) => concat([Uint8Array.of(code, value.length + lie), value])),
  );
  const parameter = concat([Uint8Array.of(2, field.length), field]);
  return withLength(concat([bytes.subarray(0, 28), Uint8Array.of(parameter.length), parameter]));
}

/** Changes one item, or the order and number of them. */
function mutateItems(items: Item[], random: Random): void {
  const item = items.length === 0 ? undefined : random.of(items);
  if (item === undefined) {
    items.push(anyItem(random));
    return;
  }
  const at = items.indexOf(item);
  const changes: (() => void)[] = [
    () => {
      item.flags ^= random.of([0x80, 0x40, 0x20, 0x10, 0x0f]);
    },
    () => {
      item.code = random.below(3) === 0 ? random.below(256) : 1 + random.below(36);
    },
    () => {
      item.lie = random.of([-4, -1, 1, 2, 4, 200]);
    },
    () => {
      item.value = item.value.subarray(0, random.below(item.value.length + 1));
    },
    () => {
      item.value = concat([item.value, random.octets(1 + random.below(5))]);
    },
    () => {
      item.value = Uint8Array.from(item.value);
      if (item.value.length > 0) item.value[random.below(item.value.length)] = random.of(edges);
    },
    () => {
      item.isExtended = !item.isExtended;
    },
    () => items.splice(random.below(items.length + 1), 0, { ...item }),
    () => items.splice(at, 1),
    () => items.reverse(),
    () => items.push(anyItem(random)),
  ];
  random.of(changes)();
}

function anyItem(random: Random): Item {
  return {
    flags: random.of([0x40, 0x80, 0xc0, 0xe0, 0x00]),
    code: random.below(256),
    value: random.octets(random.below(40)),
    lie: 0,
    isExtended: random.below(4) === 0,
  };
}

function damageNlri(field: Uint8Array, random: Random): Uint8Array {
  const copy = Uint8Array.from(field);
  switch (random.below(4)) {
    case 0:
      return concat([copy, Uint8Array.of(random.of(edges))]);
    case 1:
      return copy.subarray(0, random.below(copy.length + 1));
    case 2:
      return concat([copy, copy]);
    default:
      if (copy.length > 0) copy[random.below(copy.length)] = random.of(edges);
      return copy;
  }
}

interface UpdateParts {
  withdrawn: Uint8Array;
  readonly attributes: Item[];
  nlri: Uint8Array;
  lengthLie: number;
}

/** The fields of an UPDATE whose lengths fit, or `undefined`. */
function readUpdate(bytes: Uint8Array): UpdateParts | undefined {
  if (bytes[18] !== 2 || bytes.length < 23) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const withdrawnEnd = 21 + view.getUint16(19);
  if (withdrawnEnd + 2 > bytes.length) return undefined;
  const attributesEnd = withdrawnEnd + 2 + view.getUint16(withdrawnEnd);
  if (attributesEnd > bytes.length) return undefined;
  const attributes = readAttributes(bytes.subarray(withdrawnEnd + 2, attributesEnd));
  if (attributes === undefined) return undefined;
  return {
    withdrawn: bytes.subarray(21, withdrawnEnd),
    attributes,
    nlri: bytes.subarray(attributesEnd),
    lengthLie: 0,
  };
}

function readAttributes(field: Uint8Array): Item[] | undefined {
  const items: Item[] = [];
  for (let at = 0; at < field.length; ) {
    const [flags = 0, code = 0, high = 0, low = 0] = field.subarray(at, at + 4);
    const isExtended = (flags & 0x10) !== 0;
    const start = at + (isExtended ? 4 : 3);
    const end = start + (isExtended ? high * 256 + low : high);
    if (end > field.length) return undefined;
    items.push({ flags: flags & 0xef, code, value: field.subarray(start, end), lie: 0, isExtended });
    at = end;
  }
  return items;
}

function writeAttribute({ flags, code, value, lie, isExtended }: Item): Uint8Array {
  const length = Math.max(0, value.length + lie);
  if (!isExtended && length < 256) return concat([Uint8Array.of(flags, code, length), value]);
  return concat([Uint8Array.of(flags | 0x10, code), u16(length), value]);
}

/** The capabilities of an OPEN with one parameter of the short form, or `undefined`. */
function readCapabilities(bytes: Uint8Array): Item[] | undefined {
  if (bytes.length < 31 || bytes[29] !== 2) return undefined;
  const field = bytes.subarray(31);
  const items: Item[] = [];
  for (let at = 0; at < field.length; ) {
    const [code = 0, length = 0] = field.subarray(at, at + 2);
    if (at + 2 + length > field.length) return undefined;
    const value = field.subarray(at + 2, at + 2 + length);
    items.push({ flags: 0, code, value, lie: 0, isExtended: false });
    at += 2 + length;
  }
  return items;
}

const u16 = (value: number): Uint8Array => Uint8Array.of(value >> 8, value);

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}

/** The message with a header that tells its length. */
function withLength(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[16] = copy.length >> 8;
  copy[17] = copy.length;
  return copy;
}
