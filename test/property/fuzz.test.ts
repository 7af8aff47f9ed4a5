import { describe, expect, it } from 'vitest';
import { runBatch } from '../fuzz/batch.ts';
import { check, ourCodec } from '../fuzz/invariants.ts';
import { mutate } from '../fuzz/mutate.ts';
import { Random } from '../fuzz/random.ts';
import { shrink } from '../fuzz/shrink.ts';
import { contextOf } from '../kit/wire-vector.ts';

const context = contextOf({ session: { asn4: true, internal: false } });
const update = Buffer.from(
  `${'ff'.repeat(16)}002f02000000144001010040020602010000fde94003040a000002180a0100`,
  'hex',
);

/** The first of many batches that finds something. */
function firstFinding(codec: typeof ourCodec): ReturnType<typeof runBatch>['finding'] {
  for (let seed = 1; seed < 40; seed++) {
    const { finding } = runBatch(seed, undefined, codec);
    if (finding !== undefined) return finding;
  }
  return undefined;
}

describe('the fuzzer', () => {
  it('finds a decoder that throws what it must not, and shows it in few octets', () => {
    const finding = firstFinding({
      ...ourCodec,
      decode(frame, session) {
        const message = ourCodec.decode(frame, session);
        const isBroken = message.type === 'UPDATE' && message.faults.some(({ code }) => code === 4);
        if (isBroken) throw new RangeError('planted');
        return message;
      },
    });
    expect(finding?.error).toMatchObject({ message: 'planted' });
    // Header, two lengths, MULTI_EXIT_DISC with a fault, and what keeps the session: little more than a prefix.
    expect(finding?.bytes.length).toBeLessThan(50);
  });

  it('finds a decoder that reads past its message, and an encoder that loses something', () => {
    const longer = firstFinding({
      ...ourCodec,
      decode: (frame, session) =>
        ourCodec.decode(
          { ...frame, bytes: new Uint8Array(frame.bytes.buffer, frame.bytes.byteOffset) },
          session,
        ),
    });
    expect(longer?.error).toMatchObject({ message: expect.stringMatching(/^whole:|fault/) });
    const lossy = firstFinding({
      ...ourCodec,
      encode(message, session) {
        if (message.type !== 'UPDATE' || message.attributes === undefined) {
          return ourCodec.encode(message, session);
        }
        return ourCodec.encode(
          { ...message, attributes: { ...message.attributes, communities: undefined } },
          session,
        );
      },
    });
    expect(lossy?.error).toMatchObject({ message: expect.stringContaining('written and read again') });
  });

  it('finds a fault whose action is not taken', () => {
    const finding = firstFinding({
      ...ourCodec,
      decode(frame, session) {
        const message = ourCodec.decode(frame, session);
        return message.type === 'UPDATE' ? { ...message, treatAsWithdraw: false } : message;
      },
    });
    expect(finding?.error).toMatchObject({ message: expect.stringContaining('treatAsWithdraw is false') });
  });

  it('gives the same inputs for the same seed, both read and refused ones', () => {
    const inputs = (seed: number): string[] => {
      const seen: string[] = [];
      const { finding, read, refused } = runBatch(seed, (bytes) =>
        seen.push(Buffer.from(bytes).toString('hex')),
      );
      expect(finding).toBeUndefined();
      expect(Math.min(read, refused)).toBeGreaterThan(50);
      return seen;
    };
    expect(inputs(7)).toEqual(inputs(7));
    expect(inputs(7)).not.toEqual(inputs(8));
  });

  it('damages single fields: most copies still have a header that fits', () => {
    const random = new Random(1);
    const fits = Array.from({ length: 500 }, () => mutate(update, update, random)).filter(
      (bytes) => check(bytes, context, [])[0] !== 'NOTIFICATION 1/2',
    );
    expect(fits.length).toBeGreaterThan(350);
  });

  it('shrinks to what matters', () => {
    const bytes = Uint8Array.from({ length: 500 }, (_, n) => n & 255);
    const smallest = shrink(bytes, (candidate) => candidate.includes(77) && candidate.includes(200));
    expect([...smallest]).toEqual([77, 200]);
  });
});
