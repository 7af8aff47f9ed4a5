/** Segments of the index; each grows by itself, so that no single insertion moves much. A power of two. */
const SEGMENTS = 256;
const SEGMENT_BITS = 8;
/** Slots of a new segment. A power of two. */
const FIRST_SLOTS = 8;

/** Words of a key: address (1 or 4 words), prefix length, path identifier. */
export type KeyWords = Uint32Array;

interface Segment {
  /** Two words a slot: hash, and entry number plus one; 0 in the second is a free slot. */
  slots: Uint32Array;
  used: number;
}

/**
 * A hash index from keys to entry numbers, by open addressing. The entries hold the keys; the index holds numbers only, in
 * typed arrays that the garbage collector does not look into. It is kept at most half full.
 */
export class PathIndex {
  readonly #matches: (entry: number, key: KeyWords) => boolean;
  readonly #segments: readonly Segment[];

  /** @param matches whether an entry has this key */
  constructor(matches: (entry: number, key: KeyWords) => boolean) {
    this.#matches = matches;
    this.#segments = Array.from({ length: SEGMENTS }, () => ({
      slots: new Uint32Array(2 * FIRST_SLOTS),
      used: 0,
    }));
  }

  /** The entry with this key, or -1. */
  find(key: KeyWords, hash: number): number {
    const { slots } = this.#segmentOf(hash);
    const at = this.#slotOf(slots, key, hash);
    return (slots[at + 1] ?? 0) - 1;
  }

  /** The entry with this key; where there is none, `entry` is added with it and returned. */
  findOrAdd(key: KeyWords, hash: number, entry: number): number {
    const segment = this.#segmentOf(hash);
    if (4 * (segment.used + 1) > segment.slots.length) grow(segment);
    const { slots } = segment;
    const at = this.#slotOf(slots, key, hash);
    const known = slots[at + 1] ?? 0;
    if (known !== 0) return known - 1;
    slots[at] = hash;
    slots[at + 1] = entry + 1;
    segment.used += 1;
    return entry;
  }

  /** Takes an entry out that is there; what its slot pushed aside moves back. */
  remove(entry: number, hash: number): void {
    const segment = this.#segmentOf(hash);
    const { slots } = segment;
    const mask = slots.length - 1;
    let hole = home(hash, mask);
    while (slots[hole + 1] !== entry + 1) hole = (hole + 2) & mask;
    slots[hole + 1] = 0;
    for (let at = (hole + 2) & mask; slots[at + 1] !== 0; at = (at + 2) & mask) {
      const moved = slots[at] ?? 0;
      // Its home lies behind the hole: it is found without a move.
      if (((at - home(moved, mask)) & mask) < ((at - hole) & mask)) continue;
      slots[hole] = moved;
      slots[hole + 1] = slots[at + 1] ?? 0;
      slots[at + 1] = 0;
      hole = at;
    }
    segment.used -= 1;
  }

  #segmentOf(hash: number): Segment {
    const segment = this.#segments[hash & (SEGMENTS - 1)];
    if (segment === undefined) throw new RangeError(`no segment for hash ${hash}`);
    return segment;
  }

  /** Where the key is, or the free slot where it would be. */
  #slotOf(slots: Uint32Array, key: KeyWords, hash: number): number {
    const mask = slots.length - 1;
    for (let at = home(hash, mask); ; at = (at + 2) & mask) {
      const entry = slots[at + 1] ?? 0;
      if (entry === 0 || (slots[at] === hash && this.#matches(entry - 1, key))) return at;
    }
  }
}

/** The word where the slot of a hash begins. The low bits have chosen the segment. */
function home(hash: number, mask: number): number {
  return ((hash >>> SEGMENT_BITS) << 1) & mask;
}

function grow(segment: Segment): void {
  const { slots } = segment;
  const grown = new Uint32Array(slots.length * 2);
  const mask = grown.length - 1;
  for (let from = 0; from < slots.length; from += 2) {
    const entry = slots[from + 1] ?? 0;
    if (entry === 0) continue;
    const hash = slots[from] ?? 0;
    let at = home(hash, mask);
    while (grown[at + 1] !== 0) at = (at + 2) & mask;
    grown[at] = hash;
    grown[at + 1] = entry;
  }
  segment.slots = grown;
}

/**
 * The 32-bit hash of a key (the finalizer of MurmurHash3 over each word). A seed that is not known outside keeps a peer from
 * choosing prefixes that all fall into one slot.
 */
export function hashKey(key: KeyWords, seed: number): number {
  let hash = seed | 0;
  for (let i = 0; i < key.length; i++) {
    hash ^= key[i] ?? 0;
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
}
