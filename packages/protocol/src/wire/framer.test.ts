import { describe, expect, it } from 'vitest';
import { NotificationError } from './errors.ts';
import { Framer } from './framer.ts';

/** A message with the given length field and type; the body is zeros. */
function message(length: number, type: number, size: number = length): Uint8Array {
  const bytes = new Uint8Array(Math.max(size, 19)).fill(0);
  bytes.fill(0xff, 0, 16);
  bytes[16] = length >> 8;
  bytes[17] = length & 0xff;
  bytes[18] = type;
  return bytes.subarray(0, Math.max(size, 19));
}

const keepalive = message(19, 4);

function failure(chunk: Uint8Array, maxLength = 4096): NotificationError {
  const framer = new Framer(maxLength);
  framer.push(chunk);
  try {
    framer.next();
  } catch (error) {
    if (error instanceof NotificationError) return error;
    throw error;
  }
  throw new Error('the framer accepted it');
}

describe('header errors (RFC 4271 section 6.1)', () => {
  it.each([0, 7, 15])('answers a marker that is wrong in octet %d with 1/1 and no data', (at) => {
    const bytes = keepalive.slice();
    bytes[at] = 0xfe;
    expect(failure(bytes)).toMatchObject({ code: 1, subcode: 1, data: new Uint8Array(0) });
  });

  it.each([
    ['Length 0', 0, 4],
    ['Length 18', 18, 4],
    ['Length 65535', 65535, 2],
    ['Length 4097 without extended messages', 4097, 2],
    ['KEEPALIVE of 20 octets', 20, 4],
    ['OPEN of 28 octets', 28, 1],
    ['UPDATE of 22 octets', 22, 2],
    ['NOTIFICATION of 20 octets', 20, 3],
  ])('answers %s with 1/2 and the Length field, before the body is there', (_, length, type) => {
    const data = Uint8Array.of(length >> 8, length & 0xff);
    expect(failure(message(length, type, 19))).toMatchObject({ code: 1, subcode: 2, data });
  });

  it.each([0, 6, 255])('answers type %d with 1/3 and the type', (type) => {
    expect(failure(message(19, type))).toMatchObject({ code: 1, subcode: 3, data: Uint8Array.of(type) });
  });

  it('keeps OPEN and KEEPALIVE short where extended messages were negotiated (RFC 8654 section 4)', () => {
    expect(failure(message(4097, 1, 19), 65535)).toMatchObject({ code: 1, subcode: 2 });
    const framer = new Framer(65535);
    framer.push(message(65535, 2));
    expect(framer.next()?.bytes.length).toBe(65535);
  });

  it('judges a header that came octet by octet', () => {
    const framer = new Framer(4096);
    const bytes = message(20, 4, 19);
    for (let at = 0; at < 18; at++) {
      framer.push(bytes.subarray(at, at + 1));
      expect(framer.next()).toBeUndefined();
    }
    framer.push(bytes.subarray(18));
    expect(() => framer.next()).toThrow('Bad Message Length');
  });

  it('says the same again once the stream is lost', () => {
    const framer = new Framer(4096);
    framer.push(message(19, 9));
    expect(() => framer.next()).toThrow(NotificationError);
    framer.push(keepalive);
    expect(() => framer.next()).toThrow('Bad Message Type: type 9');
  });
});

describe('cutting a stream', () => {
  it('hands out an UPDATE of exactly 4096 octets', () => {
    const framer = new Framer(4096);
    framer.push(message(4096, 2));
    expect(framer.next()).toMatchObject({ type: 2, bytes: { length: 4096 } });
    expect(framer.next()).toBeUndefined();
  });

  it('does not copy a message that lies in one chunk', () => {
    const framer = new Framer(4096);
    const chunk = Buffer.concat([keepalive, message(30, 2)]);
    framer.push(chunk);
    const frames = [framer.next(), framer.next()];
    expect(frames.map((frame) => frame?.bytes.buffer === chunk.buffer)).toEqual([true, true]);
    expect(frames.map((frame) => frame?.type)).toEqual([4, 2]);
  });

  it('gives the same for every place at which two messages are cut in two', () => {
    const stream = Buffer.concat([message(45, 2), keepalive]);
    for (let cut = 0; cut <= stream.length; cut++) {
      const framer = new Framer(4096);
      const types: (number | undefined)[] = [];
      for (const chunk of [stream.subarray(0, cut), stream.subarray(cut)]) {
        framer.push(chunk);
        for (let frame = framer.next(); frame !== undefined; frame = framer.next()) types.push(frame.type);
      }
      expect(types, `cut at ${cut}`).toEqual([2, 4]);
    }
  });

  it('lets go of a chunk whose tail is an incomplete message', () => {
    const framer = new Framer(4096);
    const chunk = Uint8Array.from([...keepalive, ...message(30, 2).subarray(0, 25)]);
    framer.push(chunk);
    expect(framer.next()?.type).toBe(4);
    expect(framer.next()).toBeUndefined();
    chunk.fill(0);
    framer.push(message(30, 2).subarray(25));
    expect(framer.next()?.bytes).toEqual(message(30, 2));
  });

  it('accepts longer messages from the moment the limit is raised', () => {
    const framer = new Framer(4096);
    framer.push(keepalive);
    expect(framer.next()?.type).toBe(4);
    framer.maxLength = 65535;
    framer.push(message(5000, 2));
    expect(framer.next()?.bytes.length).toBe(5000);
  });
});
