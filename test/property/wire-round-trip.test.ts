import { asn, decodeMessage, encodeMessage, Framer, openContext, Writer } from '@bgp-lb/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextAndMessage, contexts, messages, propertyRuns } from '../kit/arbitraries.ts';

describe('encoding and decoding', () => {
  it('gives back every message that was sent, whatever the session negotiated', () => {
    fc.assert(
      fc.property(contextAndMessage, fc.integer({ min: 1, max: 300 }), ([context, message], size) => {
        // A buffer that starts small grows at any field.
        const bytes = encodeMessage(message, context, new Writer(size));
        const framer = new Framer(context.maxReceiveLength);
        framer.push(bytes);
        const frame = framer.next();
        expect(frame).toBeDefined();
        if (frame === undefined) return;
        const faults = message.type === 'UPDATE' ? { faults: [], treatAsWithdraw: false } : {};
        expect(decodeMessage(frame, context)).toStrictEqual({ ...message, ...faults });
      }),
      propertyRuns(2000),
    );
  });

  it('writes what it has read in the same octets', () => {
    fc.assert(
      fc.property(contextAndMessage, ([context, message]) => {
        const bytes = encodeMessage(message, context);
        const again = decodeMessage({ type: bytes[18] ?? 0, bytes }, context);
        expect(encodeMessage(again, context)).toEqual(bytes);
      }),
      propertyRuns(500),
    );
  });

  it('keeps nothing of the memory that a message was read from', () => {
    fc.assert(
      fc.property(contextAndMessage, ([context, message]) => {
        const bytes = encodeMessage(message, context);
        const frame = { type: bytes[18] ?? 0, bytes: bytes.slice() };
        const before = decodeMessage(frame, context);
        const expected = structuredClone(before);
        frame.bytes.fill(0xaa);
        expect(structuredClone(before)).toEqual(expected);
      }),
      propertyRuns(500),
    );
  });
});

describe('cutting a stream into messages', () => {
  it('finds the same messages however the stream is cut into chunks', () => {
    const streams = contexts.chain((context) =>
      fc.tuple(
        fc.array(
          messages(context).map((message) => encodeMessage(message, context)),
          { minLength: 1, maxLength: 6 },
        ),
        fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 50 }),
      ),
    );
    fc.assert(
      fc.property(streams, ([sent, cuts]) => {
        expect(received(Buffer.concat(sent), cuts)).toEqual(sent.map((bytes) => Buffer.from(bytes)));
      }),
      propertyRuns(500),
    );
  });

  it('finds the same messages when several chunks arrive before any is asked for', () => {
    const keepalive = encodeMessage({ type: 'KEEPALIVE' }, openContext(asn(64512)));
    const framer = new Framer(4096);
    const stream = Buffer.concat([keepalive, keepalive, keepalive]);
    for (let at = 0; at < stream.length; at += 5) framer.push(stream.subarray(at, at + 5));
    expect([framer.next(), framer.next(), framer.next(), framer.next()].map((frame) => frame?.type)).toEqual([
      4,
      4,
      4,
      undefined,
    ]);
  });
});

/** The messages of a stream that arrives in chunks of the given sizes, over and over. */
function received(stream: Uint8Array, sizes: readonly number[]): Buffer[] {
  const framer = new Framer(65535);
  const frames: Buffer[] = [];
  for (let at = 0, turn = 0; at < stream.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    const chunk = Buffer.from(stream.subarray(at, at + size));
    framer.push(chunk);
    for (let frame = framer.next(); frame !== undefined; frame = framer.next())
      frames.push(Buffer.from(frame.bytes));
    // The memory of a chunk may be used again once it was read from.
    chunk.fill(0);
    at += size;
  }
  return frames;
}
