/** Sets of a new list. */
const FIRST_LENGTH = 64;

/** Which sets of attributes were found to be without a fault, by their numbers and serials in the table: none is looked at twice. */
export class JudgedSets {
  #serials = new Int32Array(FIRST_LENGTH);

  has(number: number, serial: number): boolean {
    return this.#serials[number] === serial;
  }

  add(number: number, serial: number): void {
    if (number >= this.#serials.length) {
      let length = this.#serials.length;
      while (length <= number) length *= 2;
      const grown = new Int32Array(length);
      grown.set(this.#serials);
      this.#serials = grown;
    }
    this.#serials[number] = serial;
  }

  clear(): void {
    this.#serials = new Int32Array(FIRST_LENGTH);
  }
}
