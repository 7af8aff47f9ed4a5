/** Words of a record. */
const WIDTH = 4;
const REFERENCES = 0;
const VALUE_HASH = 1;
const OCTETS_HASH = 2;
const SERIAL = 3;
/** Records of a new list. */
const FIRST_LENGTH = 64;

/** What a table keeps of each of its sets in numbers, as one typed array that the garbage collector does not look into. */
export class AttributeRecords {
  #words = new Int32Array(FIRST_LENGTH * WIDTH);
  #lastSerial = 0;

  /** Begins a record, without a reference; one that was there under this number is over. */
  begin(number: number, valueHash: number): void {
    const at = number * WIDTH;
    if (at >= this.#words.length) {
      const grown = new Int32Array(this.#words.length * 2);
      grown.set(this.#words);
      this.#words = grown;
    }
    // Never 0: that is what a column of serials holds before anything is written to it.
    this.#lastSerial = (this.#lastSerial + 1) | 0 || 1;
    this.#words[at + REFERENCES] = 0;
    this.#words[at + VALUE_HASH] = valueHash;
    this.#words[at + SERIAL] = this.#lastSerial;
  }

  /** @returns how many references there are now */
  addReferences(number: number, count: 1 | -1): number {
    const at = number * WIDTH + REFERENCES;
    const references = (this.#words[at] ?? 0) + count;
    this.#words[at] = references;
    return references;
  }

  /** 0 for a number that stands for nothing. */
  references(number: number): number {
    return this.#words[number * WIDTH + REFERENCES] ?? 0;
  }

  valueHash(number: number): number {
    return this.#words[number * WIDTH + VALUE_HASH] ?? 0;
  }

  octetsHash(number: number): number {
    return this.#words[number * WIDTH + OCTETS_HASH] ?? 0;
  }

  setOctetsHash(number: number, hash: number): void {
    this.#words[number * WIDTH + OCTETS_HASH] = hash;
  }

  /** Another one for each set, in 32 bits: the same number with another serial is another set. */
  serial(number: number): number {
    return this.#words[number * WIDTH + SERIAL] ?? 0;
  }

  clear(): void {
    this.#words = new Int32Array(FIRST_LENGTH * WIDTH);
  }
}
