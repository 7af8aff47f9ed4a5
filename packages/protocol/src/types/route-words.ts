import type { Family } from './family.ts';
import type { Prefix } from './prefix.ts';

/**
 * A route as 32-bit words, for those who keep no object for each: the address (1 or 4 words, host bits zero), the length in
 * bits, the path identifier of RFC 7911 or 0.
 */
export type RouteWords = Uint32Array;

/** How many words a route of this family has. */
export function wordsOf(family: Family): number {
  return family.maxPrefixLength / 32 + 2;
}

/** Writes a route. */
export function setRouteWords(words: RouteWords, { bytes, length }: Prefix, pathId: number): void {
  const end = words.length - 2;
  for (let word = 0; word < end; word++) {
    const at = word * 4;
    const high = ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16);
    words[word] = high | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
  }
  words[end] = length;
  words[end + 1] = pathId;
}

/** The prefix of a route, as a new object. */
export function prefixOfWords(family: Family, words: RouteWords): Prefix {
  const bytes = new Uint8Array(family.maxPrefixLength >> 3);
  for (let at = 0; at < bytes.length; at++) bytes[at] = (words[at >> 2] ?? 0) >>> (24 - 8 * (at & 3));
  return { family, bytes, length: words[words.length - 2] ?? 0 };
}

/** The path identifier of a route. */
export function pathIdOfWords(words: RouteWords): number {
  return words[words.length - 1] ?? 0;
}
