/** Segments of the index; each grows by itself, so that no single insertion moves much. A power of two. */
const SEGMENTS = 256;
/** Slots of a new segment, as a power of two. */
const FIRST_SLOT_BITS = 3;

interface Segment {
  /** Two words a slot: hash, and entry number plus one; 0 in the second is a free slot. */
  slots: Uint32Array;
  /** How far a hash is shifted to give a slot. */
  shift: number;
  used: number;
}

/**
 * A hash index from keys to entry numbers, by open addressing. The entries hold the keys; the index holds numbers only, in
 * typed arrays that the garbage collector does not look into. It is kept at most half full.
 */
export class EntryIndex<Key> {
  readonly #matches: (entry: number, key: Key) => boolean;
  /** Made when they are needed: most indexes hold few entries. */
  readonly #segments: (Segment | undefined)[] = new Array(SEGMENTS).fill(undefined);

  /** @param matches whether an entry has this key */
  constructor(matches: (entry: number, key: Key) => boolean) {
    this.#matches = matches;
  }

  /** The entry with this key, or -1. */
  find(key: Key, hash: number): number {
    const segment = this.#segments[hash & (SEGMENTS - 1)];
    if (segment === undefined) return -1;
    const at = this.#slotOf(segment, key, hash >>> 0);
    return (segment.slots[at + 1] ?? 0) - 1;
  }

  /** The entry with this key; where there is none, `entry` is added with it and returned. */
  findOrAdd(key: Key, signedHash: number, entry: number): number {
    const hash = signedHash >>> 0;
    const segment = this.#segmentOf(hash);
    if (4 * (segment.used + 1) > segment.slots.length) grow(segment);
    const at = this.#slotOf(segment, key, hash);
    const { slots } = segment;
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
    const { slots, shift } = segment;
    const mask = slots.length - 1;
    let hole = home(hash, shift);
    while (slots[hole + 1] !== entry + 1) hole = (hole + 2) & mask;
    slots[hole + 1] = 0;
    for (let at = (hole + 2) & mask; slots[at + 1] !== 0; at = (at + 2) & mask) {
      const moved = slots[at] ?? 0;
      // Its home lies behind the hole: it is found without a move.
      if (((at - home(moved, shift)) & mask) < ((at - hole) & mask)) continue;
      slots[hole] = moved;
      slots[hole + 1] = slots[at + 1] ?? 0;
      slots[at + 1] = 0;
      hole = at;
    }
    segment.used -= 1;
  }

  #segmentOf(hash: number): Segment {
    const number = hash & (SEGMENTS - 1);
    const known = this.#segments[number];
    if (known !== undefined) return known;
    const slots = new Uint32Array(2 << FIRST_SLOT_BITS);
    const segment = { slots, shift: 32 - FIRST_SLOT_BITS, used: 0 };
    this.#segments[number] = segment;
    return segment;
  }

  /** Where the key is, or the free slot where it would be. */
  #slotOf({ slots, shift }: Segment, key: Key, hash: number): number {
    const mask = slots.length - 1;
    for (let at = home(hash, shift); ; at = (at + 2) & mask) {
      const entry = slots[at + 1] ?? 0;
      if (entry === 0 || (slots[at] === hash && this.#matches(entry - 1, key))) return at;
    }
  }
}

/**
 * The word where the slot of a hash begins: by its high bits, so that a segment that grows is written from one end to the
 * other. The low bits have chosen the segment.
 */
function home(hash: number, shift: number): number {
  return (hash >>> shift) << 1;
}

function grow(segment: Segment): void {
  const { slots } = segment;
  const shift = segment.shift - 1;
  const grown = new Uint32Array(slots.length * 2);
  const mask = grown.length - 1;
  for (let from = 0; from < slots.length; from += 2) {
    const entry = slots[from + 1] ?? 0;
    if (entry === 0) continue;
    const hash = slots[from] ?? 0;
    let at = home(hash, shift);
    while (grown[at + 1] !== 0) at = (at + 2) & mask;
    grown[at] = hash;
    grown[at + 1] = entry;
  }
  segment.slots = grown;
  segment.shift = shift;
}
