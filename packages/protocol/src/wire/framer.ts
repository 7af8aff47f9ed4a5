import { HEADER_LENGTH, MARKER_LENGTH, MAX_MESSAGE_LENGTH, MessageType } from './constants.ts';
import { NotificationError } from './errors.ts';
import { MessageHeaderSubcode, NotificationCode } from './notification-codes.ts';

/** One whole message as it came off the wire. */
export interface Frame {
  readonly type: number;
  /** Header and body. May share memory with the chunk that was pushed: keep nothing of it, the decoder copies. */
  readonly bytes: Uint8Array;
}

/** The shortest and the longest message of a type: RFC 4271 section 6.1; RFC 8654 section 4 leaves OPEN and KEEPALIVE alone. */
const lengths: Readonly<Record<number, { readonly min: number; readonly max: number }>> = {
  [MessageType.Open]: { min: 29, max: MAX_MESSAGE_LENGTH },
  [MessageType.Update]: { min: 23, max: 65535 },
  [MessageType.Notification]: { min: 21, max: 65535 },
  [MessageType.Keepalive]: { min: HEADER_LENGTH, max: HEADER_LENGTH },
  // Its length is judged by the decoder: the answer depends on what was negotiated (RFC 7313 section 5).
  [MessageType.RouteRefresh]: { min: HEADER_LENGTH, max: 65535 },
};

/**
 * Cuts a byte stream into messages (RFC 4271 section 4.1) and checks each header as soon as it is complete.
 *
 * Call `next` until it returns `undefined` after each `push`; then nothing but one incomplete message is kept,
 * in memory of the framer's own that never exceeds `maxLength`. A message that lies in one chunk is not copied.
 */
export class Framer {
  /** The longest message that is accepted; raised once RFC 8654 was negotiated. */
  maxLength: number;
  readonly #chunks: Uint8Array[] = [];
  /** Next octet of the first chunk. */
  #position = 0;
  /** The incomplete message: its header first, then the whole of it. */
  #partial: Uint8Array = new Uint8Array(HEADER_LENGTH);
  #partialLength = 0;
  #failure: NotificationError | undefined;

  constructor(maxLength: number) {
    this.maxLength = maxLength;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length > 0) this.#chunks.push(chunk);
  }

  /**
   * The next whole message, or `undefined` until more octets come.
   * @throws NotificationError 1/1, 1/2 or 1/3; the stream is lost then, and every later call throws the same.
   */
  next(): Frame | undefined {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return this.#next();
    } catch (error) {
      if (error instanceof NotificationError) this.#fail(error);
      throw error;
    }
  }

  #fail(error: NotificationError): void {
    this.#failure = error;
    this.#chunks.length = 0;
    this.#partial = new Uint8Array(0);
  }

  #next(): Frame | undefined {
    for (let chunk = this.#chunks[0]; chunk !== undefined; chunk = this.#chunks[0]) {
      const frame = this.#partialLength === 0 ? this.#inPlace(chunk) : this.#assemble(chunk);
      if (this.#position === chunk.length) {
        this.#chunks.shift();
        this.#position = 0;
      }
      if (frame !== undefined) return frame;
    }
    return undefined;
  }

  /** A message that begins in this chunk. What is incomplete at the end of it is copied away. */
  #inPlace(chunk: Uint8Array): Frame | undefined {
    const start = this.#position;
    const available = chunk.length - start;
    if (available >= HEADER_LENGTH) {
      const length = checkHeader(chunk, start, this.maxLength);
      if (available >= length) {
        this.#position = start + length;
        return { type: chunk[start + 18] ?? 0, bytes: chunk.subarray(start, start + length) };
      }
      this.#partial = new Uint8Array(length);
    } else {
      this.#partial = new Uint8Array(HEADER_LENGTH);
    }
    this.#partial.set(chunk.subarray(start));
    this.#partialLength = available;
    this.#position = chunk.length;
    return undefined;
  }

  /** Goes on with the incomplete message: first to the end of its header, then to its own end. */
  #assemble(chunk: Uint8Array): Frame | undefined {
    if (this.#partialLength < HEADER_LENGTH) {
      this.#fill(chunk, HEADER_LENGTH);
      if (this.#partialLength < HEADER_LENGTH) return undefined;
      const whole = new Uint8Array(checkHeader(this.#partial, 0, this.maxLength));
      whole.set(this.#partial);
      this.#partial = whole;
    }
    this.#fill(chunk, this.#partial.length);
    if (this.#partialLength < this.#partial.length) return undefined;
    this.#partialLength = 0;
    return { type: this.#partial[18] ?? 0, bytes: this.#partial };
  }

  #fill(chunk: Uint8Array, target: number): void {
    const count = Math.min(target - this.#partialLength, chunk.length - this.#position);
    this.#partial.set(chunk.subarray(this.#position, this.#position + count), this.#partialLength);
    this.#partialLength += count;
    this.#position += count;
  }
}

/** Checks the header at `start` (RFC 4271 section 6.1) and returns the length of the message. */
function checkHeader(bytes: Uint8Array, start: number, maxLength: number): number {
  for (let i = start; i < start + MARKER_LENGTH; i++) {
    if (bytes[i] !== 0xff) throw headerError(MessageHeaderSubcode.ConnectionNotSynchronized, []);
  }
  const high = bytes[start + 16] ?? 0;
  const low = bytes[start + 17] ?? 0;
  const type = bytes[start + 18] ?? 0;
  const length = (high << 8) | low;
  const known = lengths[type];
  if (length < HEADER_LENGTH || length > maxLength) {
    throw headerError(MessageHeaderSubcode.BadMessageLength, [high, low], `length ${length}`);
  }
  if (known === undefined) {
    throw headerError(MessageHeaderSubcode.BadMessageType, [type], `type ${type}`);
  }
  if (length < known.min || length > known.max) {
    throw headerError(MessageHeaderSubcode.BadMessageLength, [high, low], `length ${length} of type ${type}`);
  }
  return length;
}

function headerError(subcode: number, data: readonly number[], reason?: string): NotificationError {
  return new NotificationError(NotificationCode.MessageHeaderError, subcode, Uint8Array.from(data), reason);
}
