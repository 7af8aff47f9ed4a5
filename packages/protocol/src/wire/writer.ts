import { EncodeError } from './errors.ts';

/** A growing big-endian buffer. A length that is known only later is reserved and patched. May be reused after `take`. */
export class Writer {
  #bytes: Uint8Array;
  #view: DataView;
  #length = 0;

  constructor(initialSize = 512) {
    this.#bytes = new Uint8Array(initialSize);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get length(): number {
    return this.#length;
  }

  /** Makes room for `size` octets and returns where they start. May replace the buffer and its view: read them after it. */
  #reserve(size: number): number {
    const at = this.#length;
    if (at + size > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#bytes.length * 2, at + size));
      grown.set(this.#bytes);
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    this.#length = at + size;
    return at;
  }

  u8(value: number): void {
    const at = this.#reserve(1);
    this.#view.setUint8(at, checked(value, 0xff));
  }

  u16(value: number): void {
    const at = this.#reserve(2);
    this.#view.setUint16(at, checked(value, 0xffff));
  }

  u32(value: number): void {
    const at = this.#reserve(4);
    this.#view.setUint32(at, checked(value, 0xffffffff));
  }

  bytes(value: Uint8Array, length: number = value.length): void {
    const at = this.#reserve(length);
    if (length > 32) {
      this.#bytes.set(length === value.length ? value : value.subarray(0, length), at);
      return;
    }
    for (let i = 0; i < length; i++) this.#bytes[at + i] = value[i] ?? 0;
  }

  /** One octet for a length that `patch8` fills in. */
  reserve8(): number {
    return this.#reserve(1);
  }

  /** Two octets for a length that `patch16` fills in. */
  reserve16(): number {
    return this.#reserve(2);
  }

  /** Writes the number of octets since the reserved field into it. */
  patch8(at: number): void {
    this.#view.setUint8(at, checked(this.#length - at - 1, 0xff));
  }

  patch16(at: number): void {
    this.#view.setUint16(at, checked(this.#length - at - 2, 0xffff));
  }

  /** Overwrites two octets that were written before. */
  set16(at: number, value: number): void {
    this.#view.setUint16(at, checked(value, 0xffff));
  }

  /** Overwrites one octet that was written before. */
  set8(at: number, value: number): void {
    this.#view.setUint8(at, checked(value, 0xff));
  }

  /** An octet that was written before. */
  at(position: number): number {
    return this.#view.getUint8(position);
  }

  /** Opens a gap of one octet at `at`, moving what follows. */
  widen(at: number): void {
    const end = this.#length;
    this.#reserve(1);
    this.#bytes.copyWithin(at + 1, at, end);
  }

  /** A copy of what was written; the writer is empty again. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    return taken;
  }

  /** Forgets what was written. */
  reset(): void {
    this.#length = 0;
  }
}

function checked(value: number, max: number): number {
  if (value >= 0 && value <= max && Math.floor(value) === value) return value;
  throw new EncodeError(`${value} does not fit: expected an integer from 0 to ${max}`);
}
