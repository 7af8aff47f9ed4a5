/** Wire vectors: octets that others made, and what is to become of them here. See test/vectors/README.md. */
import { readFileSync } from 'node:fs';
import type { CodecContext, DecodedMessage } from '@bgp-lb/protocol';
import {
  asn,
  decodeMessage,
  Framer,
  families,
  MAX_EXTENDED_MESSAGE_LENGTH,
  NotificationError,
} from '@bgp-lb/protocol';

/** What is to become of a message: taken as it is, softened by RFC 7606 section 2, or answered with a NOTIFICATION. */
type VectorOutcome = 'accept' | 'attribute-discard' | 'treat-as-withdraw' | `reset ${number}/${number}`;

/** One line of a file in test/vectors. */
export interface WireVector {
  readonly name: string;
  /** Where the octets are from. */
  readonly source: string;
  /** What the source says that they are. */
  readonly meaning?: string;
  readonly session: {
    readonly asn4: boolean;
    readonly internal: boolean;
    /** ADD-PATH both ways, both families. */
    readonly addPath?: true;
    /** Given where the first AS of the path is to be judged by it. */
    readonly peerAs?: number;
  };
  /** The whole message, header included. */
  readonly hex: string;
  readonly outcome: VectorOutcome;
  /** Codes of attributes with faults, in the order found; 0 for a fault in none. */
  readonly faults?: readonly number[];
  /** What is read, where anything is. */
  readonly text?: string;
  /** `identical`: written again it has the same octets. `equivalent`: other octets with the same meaning, for the reason given. */
  readonly encoding?: 'identical' | 'equivalent';
  /** What the source expects, where the outcome is another one, and the words of the RFC that decide. */
  readonly against?: { readonly expected: string; readonly because: string };
}

/** The vectors of one file. */
export function wireVectors(file: string): readonly WireVector[] {
  const url = new URL(`../vectors/${file}.jsonl`, import.meta.url);
  return readFileSync(url, 'utf8')
    .trim()
    .split('\n')
    .map((line): WireVector => JSON.parse(line));
}

/** Both families, messages of any length. */
export function contextOf({ session }: Pick<WireVector, 'session'>): CodecContext {
  const { asn4, internal, peerAs } = session;
  const addPath = session.addPath === true ? families : [];
  return {
    asn4,
    isInternal: internal,
    localAsn: asn(65000),
    peerAsn: asn(internal ? 65000 : (peerAs ?? 65001)),
    maxReceiveLength: MAX_EXTENDED_MESSAGE_LENGTH,
    maxSendLength: MAX_EXTENDED_MESSAGE_LENGTH,
    families,
    addPathReceive: addPath,
    addPathSend: addPath,
    enforceFirstAs: peerAs !== undefined,
  };
}

/** What the codec made of the octets. */
export interface Judgement {
  readonly outcome: VectorOutcome;
  readonly faults: readonly number[];
  readonly message: DecodedMessage | undefined;
}

/** Frames and decodes one message. Any error but a NOTIFICATION is thrown on. */
export function judge(bytes: Uint8Array, context: CodecContext): Judgement {
  try {
    const framer = new Framer(context.maxReceiveLength);
    framer.push(bytes);
    const frame = framer.next();
    if (frame === undefined) throw new RangeError('the message is incomplete');
    const message = decodeMessage(frame, context);
    const faults = message.type === 'UPDATE' ? message.faults.map(({ code }) => code) : [];
    return { outcome: outcomeOf(message), faults, message };
  } catch (error) {
    if (!(error instanceof NotificationError)) throw error;
    return { outcome: `reset ${error.code}/${error.subcode}`, faults: [], message: undefined };
  }
}

function outcomeOf(message: DecodedMessage): VectorOutcome {
  if (message.type !== 'UPDATE' || message.faults.length === 0) return 'accept';
  return message.treatAsWithdraw ? 'treat-as-withdraw' : 'attribute-discard';
}
