import type { CodecContext } from '@bgp-lb/protocol';
import { EncodeError, encodeMessage } from '@bgp-lb/protocol';
import fc from 'fast-check';
import { contextAndMessage } from '../kit/arbitraries.ts';
import { type Codec, check, ourCodec } from './invariants.ts';
import { mutate } from './mutate.ts';
import { Random } from './random.ts';
import { shrink } from './shrink.ts';

/** Inputs that one seed gives. */
const batchSize = 400;
/** Damaged copies that are made of each generated message. */
const copies = 8;

/** Octets that broke a rule. */
interface Finding {
  readonly seed: number;
  readonly context: CodecContext;
  /** As short as could be found. */
  readonly bytes: Uint8Array;
  readonly error: unknown;
}

/** What a batch came to. */
export interface BatchResult {
  readonly inputs: number;
  /** Messages that were read, and streams that ended with a NOTIFICATION. */
  readonly read: number;
  readonly refused: number;
  readonly finding: Finding | undefined;
}

/**
 * Runs the inputs of one seed, and stops at the first that breaks a rule.
 * @param about called with each input before it is run, so that one that never ends is known
 */
export function runBatch(
  seed: number,
  about: (bytes: Uint8Array) => void = () => undefined,
  codec: Codec = ourCodec,
): BatchResult {
  const random = new Random(seed);
  const samples = fc.sample(contextAndMessage, { numRuns: batchSize / copies, seed });
  const messages = samples.flatMap(([context, message]) => {
    const bytes = encodedOrNone(() => encodeMessage(message, context));
    return bytes === undefined ? [] : [{ context, bytes }];
  });
  let [inputs, read, refused] = [0, 0, 0];
  for (const { context, bytes } of messages) {
    for (let copy = 0; copy < copies; copy++) {
      const damaged = mutate(bytes, random.of(messages).bytes, random);
      // What follows shows whether the damage reaches past its message.
      const stream = random.below(4) === 0 ? Uint8Array.from([...damaged, ...bytes]) : damaged;
      const splits = Array.from({ length: random.below(4) }, () => random.below(70_000));
      about(stream);
      inputs += 1;
      try {
        const outcomes = check(stream, context, splits, codec);
        const isRefused = outcomes.at(-1)?.startsWith('NOTIFICATION') === true;
        if (isRefused) refused += 1;
        read += outcomes.length - (isRefused ? 1 : 0);
      } catch (error) {
        const smallest = shrink(
          stream,
          (candidate) => errorOf(candidate, context, splits, codec) !== undefined,
        );
        const finding = {
          seed,
          context,
          bytes: smallest,
          error: errorOf(smallest, context, splits, codec) ?? error,
        };
        return { inputs, read, refused, finding };
      }
    }
  }
  return { inputs, read, refused, finding: undefined };
}

function errorOf(bytes: Uint8Array, context: CodecContext, splits: readonly number[], codec: Codec): unknown {
  try {
    check(bytes, context, splits, codec);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Some generated messages are too long for their session. */
function encodedOrNone(encode: () => Uint8Array): Uint8Array | undefined {
  try {
    return encode();
  } catch (error) {
    if (error instanceof EncodeError) return undefined;
    throw error;
  }
}
