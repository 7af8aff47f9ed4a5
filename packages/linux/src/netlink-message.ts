/**
 * Netlink messages and their attributes between values and bytes (RFC 3549 section 2.3, include/uapi/linux/netlink.h).
 *
 *     nlmsghdr:  length u32 | type u16 | flags u16 | sequence u32 | port id u32      then the payload, padded to 4
 *     nlattr:    length u16 | type u16 (bit 15 nested, bit 14 network order)         then the value, padded to 4
 *
 * Everything is in host order, which is little-endian here. Bytes are hostile: no read passes its container.
 */
import { addressText } from './internet-address.ts';
import { NetlinkFormatError } from './netlink-error.ts';

const headerLength = 16;
const attributeHeaderLength = 4;
const nestedBit = 0x8000;
const typeMask = 0x3fff;

const aligned = (length: number): number => (length + 3) & ~3;

/** NLM_F_*: flags of a request, an acknowledgement and a dump. */
export const MessageFlag = {
  Request: 0x1,
  Multi: 0x2,
  Ack: 0x4,
  DumpInterrupted: 0x10,
  Dump: 0x300,
  Replace: 0x100,
  Exclusive: 0x200,
  Create: 0x400,
  Append: 0x800,
  /** On an error: the request it repeats is cut to its header. */
  Capped: 0x100,
  /** On an error or the end of a dump: attributes follow. */
  AckAttributes: 0x200,
} as const;

/** NLMSG_*: types that belong to netlink itself; the families' own begin at 16. */
export const ControlType = { Noop: 1, Error: 2, Done: 3, Overrun: 4 } as const;

/** One message as it came. The payload is a view of the received bytes. */
export interface NetlinkMessage {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  readonly portId: number;
  readonly payload: Uint8Array;
}

/** Splits a datagram into its messages. @throws NetlinkFormatError */
export function parseMessages(bytes: Uint8Array): NetlinkMessage[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const messages: NetlinkMessage[] = [];
  let offset = 0;
  while (offset < bytes.length) {
    const left = bytes.length - offset;
    if (left < headerLength) throw new NetlinkFormatError(`${left} octets are left, a message header has 16`);
    const length = view.getUint32(offset, true);
    if (length < headerLength || length > left) {
      throw new NetlinkFormatError(`message length ${length} at octet ${offset}: allowed are 16 to ${left}`);
    }
    messages.push({
      type: view.getUint16(offset + 4, true),
      flags: view.getUint16(offset + 6, true),
      sequence: view.getUint32(offset + 8, true),
      portId: view.getUint32(offset + 12, true),
      payload: bytes.subarray(offset + headerLength, offset + length),
    });
    offset += aligned(length);
  }
  return messages;
}

/** Reads a fixed structure at the head of a payload, and the attributes behind it. */
export class PayloadReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #length: number;

  /** @throws NetlinkFormatError when the payload is shorter than the structure. */
  constructor(payload: Uint8Array, structureLength: number, what: string) {
    if (payload.length < structureLength) {
      throw new NetlinkFormatError(`${what}: ${payload.length} octets, the structure has ${structureLength}`);
    }
    this.#bytes = payload;
    this.#view = new DataView(payload.buffer, payload.byteOffset, structureLength);
    this.#length = structureLength;
  }

  u8(offset: number): number {
    return this.#view.getUint8(offset);
  }

  u16(offset: number): number {
    return this.#view.getUint16(offset, true);
  }

  u32(offset: number): number {
    return this.#view.getUint32(offset, true);
  }

  i32(offset: number): number {
    return this.#view.getInt32(offset, true);
  }

  /** @throws NetlinkFormatError */
  attributes(): Attributes {
    return new Attributes(this.#bytes.subarray(aligned(this.#length)));
  }
}

/** The attributes of a message or of a nested attribute. Of a repeated type the last one counts, as in the kernel. */
export class Attributes {
  readonly #values = new Map<number, Uint8Array>();

  /** @throws NetlinkFormatError when a length passes the container. */
  constructor(bytes: Uint8Array) {
    for (const [type, value] of attributesIn(bytes)) this.#values.set(type, value);
  }

  has(type: number): boolean {
    return this.#values.has(type);
  }

  bytes(type: number): Uint8Array | undefined {
    return this.#values.get(type);
  }

  u8(type: number): number | undefined {
    return this.#view(type, 1)?.getUint8(0);
  }

  u16(type: number): number | undefined {
    return this.#view(type, 2)?.getUint16(0, true);
  }

  u32(type: number): number | undefined {
    return this.#view(type, 4)?.getUint32(0, true);
  }

  u64(type: number): bigint | undefined {
    return this.#view(type, 8)?.getBigUint64(0, true);
  }

  /** A NUL-ended string; the NUL is cut. */
  string(type: number): string | undefined {
    const value = this.#values.get(type);
    if (value === undefined) return undefined;
    const end = value.indexOf(0);
    return new TextDecoder().decode(end === -1 ? value : value.subarray(0, end));
  }

  /** An IPv4 or IPv6 address of 4 or 16 octets. @throws NetlinkFormatError */
  address(type: number): string | undefined {
    const value = this.#values.get(type);
    if (value === undefined) return undefined;
    if (value.length !== 4 && value.length !== 16) {
      throw new NetlinkFormatError(`attribute ${type}: an address of ${value.length} octets, not 4 or 16`);
    }
    return addressText(value);
  }

  /** @throws NetlinkFormatError */
  nested(type: number): Attributes | undefined {
    const value = this.#values.get(type);
    return value === undefined ? undefined : new Attributes(value);
  }

  #view(type: number, length: number): DataView | undefined {
    const value = this.#values.get(type);
    if (value === undefined) return undefined;
    if (value.length < length) {
      throw new NetlinkFormatError(`attribute ${type}: ${value.length} octets, wanted are ${length}`);
    }
    return new DataView(value.buffer, value.byteOffset, value.byteLength);
  }
}

/** The attributes in a run of bytes, in order. @throws NetlinkFormatError */
export function attributesIn(bytes: Uint8Array): [type: number, value: Uint8Array][] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const attributes: [number, Uint8Array][] = [];
  let offset = 0;
  // Fewer octets than a header at the end are padding.
  while (bytes.length - offset >= attributeHeaderLength) {
    const length = view.getUint16(offset, true);
    const left = bytes.length - offset;
    if (length < attributeHeaderLength || length > left) {
      throw new NetlinkFormatError(`attribute length ${length}: allowed are 4 to ${left}`);
    }
    const type = view.getUint16(offset + 2, true) & typeMask;
    attributes.push([type, bytes.subarray(offset + attributeHeaderLength, offset + length)]);
    offset += aligned(length);
  }
  return attributes;
}

/** Builds one message: the structure of its family first, then attributes. */
export class MessageWriter {
  #bytes: Uint8Array;
  #view: DataView;
  #length = headerLength;

  constructor(type: number, flags: number) {
    this.#bytes = new Uint8Array(256);
    this.#view = new DataView(this.#bytes.buffer);
    this.#view.setUint16(4, type, true);
    this.#view.setUint16(6, flags, true);
  }

  /** Appends the family's structure, padded to 4. */
  structure(bytes: Uint8Array): this {
    // The room first: making it may replace the buffer.
    const offset = this.#reserve(bytes.length);
    this.#bytes.set(bytes, offset);
    return this;
  }

  bytes(type: number, value: Uint8Array): this {
    const offset = this.#attribute(type, value.length);
    this.#bytes.set(value, offset);
    return this;
  }

  u8(type: number, value: number): this {
    const offset = this.#attribute(type, 1);
    this.#view.setUint8(offset, value);
    return this;
  }

  u16(type: number, value: number): this {
    const offset = this.#attribute(type, 2);
    this.#view.setUint16(offset, value, true);
    return this;
  }

  u32(type: number, value: number): this {
    const offset = this.#attribute(type, 4);
    this.#view.setUint32(offset, value, true);
    return this;
  }

  /** An attribute without value, whose presence is the value. */
  flag(type: number): this {
    this.#attribute(type, 0);
    return this;
  }

  /** A NUL-ended string. */
  string(type: number, value: string): this {
    return this.bytes(type, new TextEncoder().encode(`${value}\0`));
  }

  nested(type: number, fill: (writer: this) => void): this {
    const start = this.#length;
    this.#attribute(type | nestedBit, 0);
    fill(this);
    this.#setAttributeLength(start, this.#length - start);
    return this;
  }

  /** @returns a copy of the message with its length and sequence number filled in. */
  finish(sequence: number): Uint8Array {
    this.#view.setUint32(0, this.#length, true);
    this.#view.setUint32(8, sequence, true);
    return this.#bytes.slice(0, this.#length);
  }

  /** Appends an attribute header and zeroed room for the value. @returns the offset of the value. */
  #attribute(type: number, valueLength: number): number {
    const start = this.#reserve(attributeHeaderLength + valueLength);
    this.#setAttributeLength(start, attributeHeaderLength + valueLength);
    this.#view.setUint16(start + 2, type, true);
    return start + attributeHeaderLength;
  }

  #setAttributeLength(start: number, length: number): void {
    if (length > 0xffff) throw new RangeError(`a netlink attribute has at most 65535 octets, not ${length}`);
    this.#view.setUint16(start, length, true);
  }

  #reserve(length: number): number {
    const start = this.#length;
    this.#length += aligned(length);
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2));
      grown.set(this.#bytes);
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    return start;
  }
}
