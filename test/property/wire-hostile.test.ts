import type { CodecContext } from '@bgp-lb/protocol';
import { decodeMessage, encodeMessage, Framer, NotificationError } from '@bgp-lb/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextAndMessage, contexts, propertyRuns } from '../kit/arbitraries.ts';

/** Decodes a body of any type; returns the error where there is one, and lets nothing but a NotificationError pass. */
function outcome(type: number, body: Uint8Array, context: CodecContext): NotificationError | undefined {
  const bytes = new Uint8Array(19 + body.length).fill(0xff);
  new DataView(bytes.buffer).setUint16(16, bytes.length);
  bytes[18] = type;
  bytes.set(body, 19);
  return outcomeOfFrame(bytes, context);
}

function outcomeOfFrame(bytes: Uint8Array, context: CodecContext): NotificationError | undefined {
  try {
    decodeMessage({ type: bytes[18] ?? 0, bytes }, context);
    return undefined;
  } catch (error) {
    if (error instanceof NotificationError) return error;
    throw error;
  }
}

/** Octets that look like attributes: a type that exists, any flags, any value, a length that mostly fits. */
const attributeLike = fc
  .record({
    flags: fc.constantFrom(0x40, 0x50, 0x80, 0x90, 0xc0, 0xd0, 0xe0, 0x00, 0xff),
    code: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constantFrom(32, 99, 255)),
    value: fc.uint8Array({ maxLength: 40 }),
    lie: fc.oneof(
      { weight: 9, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: -3, max: 9 }) },
    ),
  })
  .map(({ flags, code, value, lie }) => {
    const length = Math.max(0, value.length + lie);
    const header = (flags & 0x10) === 0 ? [flags, code, length] : [flags, code, 0, length];
    return Buffer.from([...header, ...value]);
  });

/** ORIGIN, AS_PATH, NEXT_HOP, MED, LOCAL_PREF, COMMUNITIES, MP_REACH_NLRI, MP_UNREACH_NLRI, type 99: each as it should be. */
const sound = fc
  .constantFrom(
    '40010100',
    '400200',
    '4003040a000001',
    '80040400000001',
    '40050400000064',
    'c00804fde80001',
    '800e0900010104c0000201000820',
    '800f0400010100',
    'c06302abcd',
  )
  .map((hex) => Buffer.from(hex, 'hex'));

const mostlySound = fc.oneof({ weight: 8, arbitrary: sound }, { weight: 1, arbitrary: attributeLike });

const nlriLike = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom('', '180a0101', '00', '200a010101').map((hex) => Buffer.from(hex, 'hex')),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 6 }) },
);

const updateLike = fc
  .tuple(nlriLike, fc.array(mostlySound, { maxLength: 6 }), nlriLike)
  .map(([withdrawn, attributes, nlri]) => {
    const field = Buffer.concat(attributes);
    const lengths = Buffer.alloc(4);
    lengths.writeUInt16BE(withdrawn.length, 0);
    lengths.writeUInt16BE(field.length, 2);
    return Buffer.concat([lengths.subarray(0, 2), withdrawn, lengths.subarray(2), field, nlri]);
  });

describe('hostile input', () => {
  it('makes of any octets of any type a message or a NOTIFICATION', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 255 }),
        fc.uint8Array({ maxLength: 200 }),
        contexts,
        (type, body, context) => {
          outcome(type % 8, body, context);
        },
      ),
      propertyRuns(5000),
    );
  });

  it('answers an UPDATE with UPDATE Message Error only, and never with an unknown subcode', () => {
    let refused = 0;
    let read = 0;
    fc.assert(
      fc.property(updateLike, contexts, (body, context) => {
        const error = outcome(2, body, context);
        if (error === undefined) read++;
        else refused++;
        if (error === undefined) return;
        expect(error.code).toBe(3);
        expect([1, 2, 3, 4, 5, 6, 8, 9, 10, 11]).toContain(error.subcode);
        // The NOTIFICATION that says so fits the session.
        const { code, subcode, data } = error;
        const sent = encodeMessage({ type: 'NOTIFICATION', code, subcode, data }, context);
        expect(sent.length).toBeLessThanOrEqual(context.maxSendLength);
      }),
      propertyRuns(5000),
    );
    // A generator that only ever takes one way out proves little.
    expect(Math.min(refused, read)).toBeGreaterThan(500);
  });

  it('survives a valid message with a few octets changed, cut off or added', () => {
    const mutation = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(
        contextAndMessage,
        mutation,
        fc.integer({ min: -4, max: 4 }),
        ([context, message], changes, growth) => {
          const valid = encodeMessage(message, context);
          const bytes = new Uint8Array(Math.max(19, valid.length + growth));
          bytes.set(valid.subarray(0, bytes.length));
          for (const [at, value] of changes) {
            if (bytes.length > 19) bytes[19 + (at % (bytes.length - 19))] = value;
          }
          outcomeOfFrame(bytes, context);
        },
      ),
      propertyRuns(5000),
    );
  });

  it('treats what it decodes from a changed message as withdrawn, or can send it on', () => {
    const mutation = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }));
    fc.assert(
      fc.property(contextAndMessage, mutation, ([context, message], [at, value]) => {
        if (message.type !== 'UPDATE') return;
        const bytes = encodeMessage(message, context);
        bytes[19 + (at % (bytes.length - 19))] = value;
        if (outcomeOfFrame(bytes, context) !== undefined) return;
        const decoded = decodeMessage({ type: 2, bytes }, context);
        if (decoded.type !== 'UPDATE' || decoded.treatAsWithdraw) return;
        const parts = [decoded.nlri.length, decoded.withdrawn.length, decoded.mpReach, decoded.mpUnreach];
        if (parts.filter(Boolean).length !== 1) return;
        const again = decodeMessage({ type: 2, bytes: encodeMessage(decoded, context) }, context);
        expect(again).toMatchObject({ nlri: decoded.nlri, mpReach: decoded.mpReach, faults: [] });
      }),
      propertyRuns(5000),
    );
  });

  it('ends a stream of any octets with a header error or waits for more', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 80 }), { maxLength: 10 }),
        fc.nat({ max: 16 }),
        (chunks, marker) => {
          const framer = new Framer(4096);
          framer.push(new Uint8Array(marker).fill(0xff));
          try {
            for (const chunk of chunks) {
              framer.push(chunk);
              for (let frame = framer.next(); frame !== undefined; frame = framer.next()) {
                expect(frame.bytes.length).toBeLessThanOrEqual(4096);
              }
            }
          } catch (error) {
            expect(error).toMatchObject({ name: 'NotificationError', code: 1 });
            expect(() => framer.next()).toThrow(error as Error);
          }
        },
      ),
      propertyRuns(2000),
    );
  });
});
