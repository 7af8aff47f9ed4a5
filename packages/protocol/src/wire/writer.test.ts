import { describe, expect, it } from 'vitest';
import { EncodeError, OverrunError } from './errors.ts';
import { Reader } from './reader.ts';
import { Writer } from './writer.ts';

describe('Writer', () => {
  it('grows at any field, from any size', () => {
    for (let size = 1; size < 20; size++) {
      const writer = new Writer(size);
      writer.u8(1);
      writer.u16(0x0203);
      writer.u32(0x04050607);
      writer.bytes(Uint8Array.of(8, 9));
      const at = writer.reserve16();
      writer.u32(0xfffffffe);
      writer.patch16(at);
      writer.widen(0);
      expect(Buffer.from(writer.take()).toString('hex')).toBe('010102030405060708090004fffffffe');
    }
  });

  it('is empty again after take, and the octets handed out stay', () => {
    const writer = new Writer();
    writer.u8(1);
    const first = writer.take();
    writer.u8(2);
    expect([[...first], [...writer.take()], writer.length]).toEqual([[1], [2], 0]);
  });

  it.each([256, -1, 1.5, Number.NaN])('refuses %d as an octet', (value) => {
    expect(() => new Writer().u8(value)).toThrow(EncodeError);
  });

  it('refuses a length that its field cannot hold', () => {
    const writer = new Writer();
    const at = writer.reserve8();
    writer.bytes(new Uint8Array(256));
    expect(() => writer.patch8(at)).toThrow('256 does not fit: expected an integer from 0 to 255');
  });
});

describe('Reader', () => {
  it('reads unsigned, big-endian', () => {
    const reader = Reader.of(Uint8Array.from([0xff, 0xff, 0xfe, 0xff, 0xff, 0xff, 0xfd]));
    expect([reader.peek8(), reader.u8(), reader.u16(), reader.u32()]).toEqual([
      0xff, 0xff, 0xfffe, 0xfffffffd,
    ]);
    expect(reader.remaining).toBe(0);
  });

  it('refuses to pass its end, and stays where it is', () => {
    const reader = Reader.of(Uint8Array.of(1, 2, 3));
    expect(() => reader.u32()).toThrow(new OverrunError(4, 3));
    expect(() => reader.sub(4)).toThrow(OverrunError);
    expect(() => reader.skip(4)).toThrow(OverrunError);
    expect(reader.u16()).toBe(0x0102);
    expect(reader.u8()).toBe(3);
    expect(() => reader.peek8()).toThrow(OverrunError);
  });

  it('confines a part to its own octets', () => {
    const reader = Reader.of(Uint8Array.of(1, 2, 3, 4));
    const part = reader.sub(2);
    expect([part.u8(), part.remaining, reader.u8()]).toEqual([1, 1, 3]);
    expect(() => part.u16()).toThrow(OverrunError);
  });

  it('copies what it hands out, also from a view into a larger buffer', () => {
    const chunk = Uint8Array.of(9, 9, 1, 2, 3, 9);
    const reader = Reader.of(chunk.subarray(2, 5));
    const bytes = reader.bytes(2);
    expect([...reader.slice(0, 3)]).toEqual([1, 2, 3]);
    chunk.fill(0);
    expect([...bytes]).toEqual([1, 2]);
  });
});
