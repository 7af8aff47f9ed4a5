import { OverrunError } from './errors.ts';
import { OctetSpan } from './octet-span.ts';

/** A big-endian cursor over part of a message. A sub-reader shares the view and cannot pass its own end. */
export class Reader {
  readonly #view: DataView;
  readonly #end: number;
  #position: number;

  constructor(view: DataView, position: number, end: number) {
    this.#view = view;
    this.#position = position;
    this.#end = end;
  }

  static of(bytes: Uint8Array): Reader {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return new Reader(view, 0, bytes.byteLength);
  }

  /** Offset of the next octet, counted from the start of the message. */
  get position(): number {
    return this.#position;
  }

  get remaining(): number {
    return this.#end - this.#position;
  }

  /** The one bounds check: moves on by `length` octets and returns where they start. */
  #take(length: number): number {
    const at = this.#position;
    if (length > this.#end - at) throw new OverrunError(length, this.#end - at);
    this.#position = at + length;
    return at;
  }

  /** The next octet, which stays the next. */
  peek8(): number {
    if (this.#position >= this.#end) throw new OverrunError(1, 0);
    return this.#view.getUint8(this.#position);
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2));
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4));
  }

  skip(length: number): void {
    this.#take(length);
  }

  /** Octets copied out, so that they do not keep the socket's chunk alive. */
  bytes(length: number): Uint8Array {
    return this.slice(this.#take(length), length);
  }

  /** Octets from any offset of the message, copied out; for the data of a NOTIFICATION. */
  slice(position: number, length: number): Uint8Array {
    return Uint8Array.from(new Uint8Array(this.#view.buffer, this.#view.byteOffset + position, length));
  }

  /** What is left, without reading it. */
  rest(): OctetSpan {
    return new OctetSpan(this.#view, this.#position, this.remaining);
  }

  /** The next `length` octets as a reader of their own; this one moves past them. */
  sub(length: number): Reader {
    const at = this.#take(length);
    return new Reader(this.#view, at, at + length);
  }
}
