/** Fewer slots than this are never worth tidying up. */
const FEW = 64;

/** What a journal puts in order. */
export interface Versioned {
  /** Of the last change; 0 while it is in no journal. Set by the journal alone. */
  version: number;
}

/**
 * Entries in the order of their last change, under version numbers that only grow. Each entry stands in it once, whatever
 * happens to it, so that a reader who stays away costs nothing: from the version that it has seen on, it reads what has
 * changed since, and of each entry only the newest.
 */
export class ChangeJournal<Entry extends Versioned> {
  /** Both by slot; a slot whose entry has another version by now is an empty one. */
  #versions: number[] = [];
  #entries: Entry[] = [];
  #size = 0;
  #last = 0;

  /** The version of the newest change, 0 before the first. */
  get last(): number {
    return this.#last;
  }

  /** How many entries are in it. */
  get size(): number {
    return this.#size;
  }

  /** How long it is, with the places that were left. */
  get slots(): number {
    return this.#entries.length;
  }

  /** The entry has changed: it is the last one now, with a version of its own. */
  append(entry: Entry): void {
    if (entry.version === 0) this.#size += 1;
    this.#last += 1;
    entry.version = this.#last;
    this.#versions.push(this.#last);
    this.#entries.push(entry);
    if (this.#entries.length > 2 * this.#size + FEW) this.#tidy();
  }

  /** Takes an entry out. */
  remove(entry: Entry): void {
    if (entry.version === 0) return;
    entry.version = 0;
    this.#size -= 1;
    if (this.#entries.length > 2 * this.#size + FEW) this.#tidy();
  }

  /** The entries that have changed after a version, in the order of their versions. Nothing may be changed meanwhile. */
  *after(version: number): IterableIterator<Entry> {
    for (let slot = this.#slotAfter(version); slot < this.#entries.length; slot += 1) {
      const entry = this.#entries[slot];
      if (entry !== undefined && entry.version === this.#versions[slot]) yield entry;
    }
  }

  /** The first slot with a greater version. */
  #slotAfter(version: number): number {
    let low = 0;
    let high = this.#versions.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#versions[middle] ?? 0) <= version) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #tidy(): void {
    const entries = [...this.after(0)];
    this.#entries = entries;
    this.#versions = entries.map(({ version }) => version);
  }
}
