/**
 * One step of a 32-bit hash: the finalizer of MurmurHash3 over each word. Begun with a seed that is not known outside, it
 * keeps a peer from choosing what all falls into one slot. Hashes are signed numbers, which V8 keeps without a box.
 */
export function hashWord(hash: number, word: number): number {
  let mixed = hash ^ word;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** The hash of some words. */
export function hashWords(words: Uint32Array, seed: number): number {
  let hash = seed | 0;
  for (let i = 0; i < words.length; i++) hash = hashWord(hash, words[i] ?? 0);
  return hash;
}
