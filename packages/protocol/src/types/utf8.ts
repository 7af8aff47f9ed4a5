/** UTF-8 without platform support, since the core knows neither TextEncoder nor Buffer (RFC 3629). */

const REPLACEMENT = 0xfffd;

/** The octets of a text; a lone surrogate becomes U+FFFD. With `maxLength`, cut before the first character that does not fit. */
export function encodeUtf8(text: string, maxLength: number = Number.POSITIVE_INFINITY): Uint8Array {
  const octets: number[] = [];
  for (const character of text) {
    const encoded = encodeCodePoint(character.codePointAt(0) ?? REPLACEMENT);
    if (octets.length + encoded.length > maxLength) break;
    octets.push(...encoded);
  }
  return Uint8Array.from(octets);
}

function encodeCodePoint(point: number): readonly number[] {
  if (point < 0x80) return [point];
  if (point < 0x800) return [0xc0 | (point >> 6), continuation(point)];
  if (point >= 0xd800 && point <= 0xdfff) return encodeCodePoint(REPLACEMENT);
  if (point < 0x10000) return [0xe0 | (point >> 12), continuation(point >> 6), continuation(point)];
  return [0xf0 | (point >> 18), continuation(point >> 12), continuation(point >> 6), continuation(point)];
}

function continuation(bits: number): number {
  return 0x80 | (bits & 0x3f);
}

/** The text of octets; each octet that is no part of a well-formed, shortest sequence becomes U+FFFD. */
export function decodeUtf8(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; ) {
    const length = sequenceLength(bytes, i);
    text += String.fromCodePoint(length === 0 ? REPLACEMENT : codePointAt(bytes, i, length));
    i += length === 0 ? 1 : length;
  }
  return text;
}

/** Octets of the well-formed sequence that starts at `start`, 0 when there is none (RFC 3629 section 4). */
function sequenceLength(bytes: Uint8Array, start: number): number {
  const first = bytes[start] ?? 0;
  const second = bytes[start + 1] ?? 0;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  // C0, C1 and F5 to FF begin nothing; the second octet rules out overlong forms, surrogates and what is past U+10FFFF.
  if (first < 0xc2 || first > 0xf4) return 0;
  if (first === 0xe0 && second < 0xa0) return 0;
  if (first === 0xed && second > 0x9f) return 0;
  if (first === 0xf0 && second < 0x90) return 0;
  if (first === 0xf4 && second > 0x8f) return 0;
  for (let i = start + 1; i < start + length; i++) {
    if (((bytes[i] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  return length;
}

function codePointAt(bytes: Uint8Array, start: number, length: number): number {
  let point = (bytes[start] ?? 0) & (length === 1 ? 0x7f : 0xff >> (length + 1));
  for (let i = start + 1; i < start + length; i++) point = (point << 6) | ((bytes[i] ?? 0) & 0x3f);
  return point;
}
