import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NetlinkFormatError } from './netlink-error.ts';
import { Attributes, attributesIn, MessageWriter, PayloadReader, parseMessages } from './netlink-message.ts';

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(/\s/g, ''), 'hex'));
const hex = (value: Uint8Array): string => Buffer.from(value).toString('hex');

describe('a netlink message', () => {
  it('has its header, structure and attributes padded to 4', () => {
    const message = new MessageWriter(0x18, 0x0505)
      .structure(bytes('02 20 00'))
      .u8(1, 0x54)
      .u16(2, 0x1234)
      .u32(3, 0xdeadbeef)
      .string(4, 'lo')
      .flag(5)
      .bytes(6, bytes('aabbccddee'))
      .finish(7);
    expect(hex(message)).toBe(
      hex(
        bytes(`
          44000000 1800 0505 07000000 00000000
          02200000
          0500 0100 54000000
          0600 0200 34120000
          0800 0300 efbeadde
          0700 0400 6c6f0000
          0400 0500
          0900 0600 aabbccdd ee000000`),
      ),
    );
  });

  it('gives a nested attribute the nested bit and the length of what is in it', () => {
    const message = new MessageWriter(0x13, 5)
      .structure(new Uint8Array(4))
      .nested(26, (family) => family.nested(2, (inet) => inet.u32(1, 3).u32(2, 4)))
      .finish(1);
    expect(hex(message.subarray(20))).toBe(
      hex(bytes('1800 1a80 1400 0280 0800 0100 03000000 0800 0200 04000000')),
    );
  });

  it('grows past its first buffer without losing a byte', () => {
    const value = Uint8Array.from({ length: 3000 }, (_, index) => index & 255);
    const message = new MessageWriter(1, 1).u32(1, 5).bytes(2, value).u32(3, 6).finish(1);
    const attributes = new Attributes(message.subarray(16));
    expect(attributes.u32(1)).toBe(5);
    expect(attributes.bytes(2)).toEqual(value);
    expect(attributes.u32(3)).toBe(6);
  });

  it('refuses an attribute that its length field cannot hold', () => {
    expect(() => new MessageWriter(1, 1).bytes(2, new Uint8Array(65_532))).toThrow(RangeError);
  });
});

describe('parsing', () => {
  it('splits a datagram into its messages', () => {
    const first = new MessageWriter(16, 2).structure(bytes('0102030405')).finish(9);
    const second = new MessageWriter(3, 2).finish(10);
    const messages = parseMessages(Uint8Array.from([...first, ...second]));
    expect(messages.map(({ type, sequence }) => [type, sequence])).toEqual([
      [16, 9],
      [3, 10],
    ]);
    expect(messages[0]?.payload).toEqual(bytes('0102030405000000'));
  });

  it.each([
    ['an end within a header', '10000000 1000 0000'],
    ['a length below that of the header', '0f000000 1000 0000 00000000 00000000'],
    ['a length past the end', '14000000 1000 0000 00000000 00000000'],
    ['a length near 2^32', 'fdffffff 1000 0000 00000000 00000000'],
  ])('refuses %s', (_, text) => {
    expect(() => parseMessages(bytes(text))).toThrow(NetlinkFormatError);
  });

  it.each([
    ['shorter than its header', '0300 0100'],
    ['that passes its container', '0900 0100 00000000'],
  ])('refuses an attribute %s', (_, text) => {
    expect(() => attributesIn(bytes(text))).toThrow(NetlinkFormatError);
  });

  it('ignores the nested and byte order bits of an attribute type, and padding at the end', () => {
    expect(attributesIn(bytes('0500 0c80 aa000000 0400 0140 0000'))).toEqual([
      [12, bytes('aa')],
      [1, new Uint8Array(0)],
    ]);
  });

  it('takes the last of a repeated attribute, as the kernel does', () => {
    expect(new Attributes(bytes('0800 0100 01000000 0800 0100 02000000')).u32(1)).toBe(2);
  });

  it('refuses to read more than a value has', () => {
    const attributes = new Attributes(bytes('0500 0100 aa000000 0900 0200 09000100 0a000000'));
    expect(attributes.u8(1)).toBe(0xaa);
    for (const read of [
      () => attributes.u16(1),
      () => attributes.u32(1),
      () => attributes.u64(1),
      () => attributes.address(2),
      () => attributes.nested(2),
      () => new PayloadReader(bytes('01020304'), 8, 'nhmsg'),
    ]) {
      expect(read).toThrow(NetlinkFormatError);
    }
  });

  it('gives undefined for what is absent', () => {
    const attributes = new Attributes(new Uint8Array(0));
    expect([attributes.u8(1), attributes.string(1), attributes.address(1), attributes.nested(1)]).toEqual(
      Array.from({ length: 4 }, () => undefined),
    );
  });

  it('answers any bytes with messages or a NetlinkFormatError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (any) => {
        try {
          for (const { payload } of parseMessages(any)) attributesIn(payload);
        } catch (error) {
          expect(error).toBeInstanceOf(NetlinkFormatError);
        }
      }),
      { seed: 1, numRuns: 2000 },
    );
  });

  it('gives back every attribute that was written', () => {
    const attribute = fc.tuple(fc.integer({ min: 0, max: 0x3fff }), fc.uint8Array({ maxLength: 70 }));
    fc.assert(
      fc.property(fc.array(attribute, { maxLength: 20 }), (attributes) => {
        const writer = new MessageWriter(20, 1);
        for (const [type, value] of attributes) writer.bytes(type, value);
        const [message] = parseMessages(writer.finish(1));
        expect(attributesIn(message?.payload ?? new Uint8Array(0))).toEqual(attributes);
      }),
      { seed: 1, numRuns: 500 },
    );
  });
});
