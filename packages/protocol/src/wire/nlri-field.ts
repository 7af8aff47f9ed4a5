import type { Family } from '../types/family.ts';
import { pathIdOfWords, prefixOfWords, type RouteWords, wordsOf } from '../types/route-words.ts';
import { OverrunError } from './errors.ts';
import type { Nlri } from './nlri.ts';
import { NlriError, noNlri, writeNlri } from './nlri.ts';
import type { OctetSpan } from './octet-span.ts';
import { Reader } from './reader.ts';
import { Writer } from './writer.ts';

/**
 * A field of NLRI as it came: checked, and read entry by entry without an object for each:
 *
 *     | path identifier (4), with ADD-PATH | length in bits (1) | prefix (just enough octets) |
 *
 * It lies in the memory of its message, and is to be read before that is used again.
 */
export class NlriField {
  readonly family: Family;
  /** How many entries there are. */
  readonly length: number;
  readonly #octets: OctetSpan;
  readonly #withPathId: boolean;

  private constructor(family: Family, length: number, octets: OctetSpan, withPathId: boolean) {
    this.family = family;
    this.length = length;
    this.#octets = octets;
    this.#withPathId = withPathId;
  }

  /**
   * Checks the entries to the end of the reader.
   * @throws NlriError when a length exceeds the family's, or the last entry the field.
   */
  static read(reader: Reader, family: Family, withPathId: boolean): NlriField {
    const octets = reader.rest();
    let length = 0;
    try {
      for (; reader.remaining > 0; length++) {
        if (withPathId) reader.skip(4);
        reader.skip((checkedLength(reader.u8(), family) + 7) >> 3);
      }
    } catch (error) {
      if (!(error instanceof OverrunError)) throw error;
      throw new NlriError(`the last ${family.name} prefix passes the end of its field`, { cause: error });
    }
    return new NlriField(family, length, octets, withPathId);
  }

  /**
   * A field of these entries.
   * @throws RangeError for an entry of another family
   */
  static of(family: Family, entries: readonly Nlri[]): NlriField {
    const odd = entries.find(({ prefix }) => prefix.family !== family);
    if (odd !== undefined)
      throw new RangeError(`a prefix of ${odd.prefix.family.name} in a field of ${family.name}`);
    const writer = new Writer();
    writeNlri(writer, entries, true);
    return NlriField.read(Reader.of(writer.take()), family, true);
  }

  /** The entries lie from 0 to here. */
  get end(): number {
    return this.#octets.length;
  }

  /**
   * Reads one entry. Bits past its length are cleared: RFC 4271 section 4.3 calls their value irrelevant.
   * @param at where it begins: 0, or what the call before has returned
   * @param words takes the route
   * @returns where the next one begins
   */
  readAt(at: number, words: RouteWords): number {
    const octets = this.#octets;
    const last = words.length - 1;
    const start = this.#withPathId ? at + 4 : at;
    words[last] = this.#withPathId ? octets.word(at) : 0;
    const length = octets.octet(start);
    words[last - 1] = length;
    const end = start + 1 + ((length + 7) >> 3);
    let next = start + 1;
    for (let word = 0; word < last - 1; word++) {
      let value = 0;
      for (let shift = 24; shift >= 0 && next < end; shift -= 8) value |= octets.octet(next++) << shift;
      const bits = length - 32 * word;
      words[word] = bits >= 32 ? value : bits <= 0 ? 0 : value & (-1 << (32 - bits));
    }
    return end;
  }

  /** The entries as objects. Nothing of them refers to the message. */
  toList(): readonly Nlri[] {
    if (this.length === 0) return noNlri;
    const words = new Uint32Array(wordsOf(this.family));
    const entries: Nlri[] = [];
    for (let at = 0; at < this.end; ) {
      at = this.readAt(at, words);
      const pathId = this.#withPathId ? pathIdOfWords(words) : undefined;
      entries.push({ prefix: prefixOfWords(this.family, words), pathId });
    }
    return entries;
  }
}

function checkedLength(length: number, family: Family): number {
  if (length <= family.maxPrefixLength) return length;
  throw new NlriError(`${family.name} prefix length ${length}: allowed 0 to ${family.maxPrefixLength}`);
}
