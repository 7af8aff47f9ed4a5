import { describe, expect, it } from 'vitest';
import { decodeUtf8, encodeUtf8 } from './utf8.ts';

describe('UTF-8', () => {
  it.each([
    '',
    'plain',
    'Grüße',
    '漢字',
    'a\u{1f600}b',
    '\u0000\u007f\u0080\u07ff\u0800\uffff\u{10000}\u{10ffff}',
  ])('agrees with the platform about %j', (text) => {
    const octets = new TextEncoder().encode(text);
    expect(encodeUtf8(text)).toEqual(octets);
    expect(decodeUtf8(octets)).toBe(text);
  });

  it('agrees with the platform about every code point at which a length changes, and its neighbors', () => {
    for (const point of [0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfffd, 0xffff, 0x10000, 0x10ffff]) {
      const text = String.fromCodePoint(point);
      expect(decodeUtf8(new TextEncoder().encode(text))).toBe(text);
    }
  });

  it('writes U+FFFD for half a surrogate pair', () => {
    expect(encodeUtf8('a\ud800')).toEqual(Uint8Array.of(0x61, 0xef, 0xbf, 0xbd));
  });

  it('cuts before a character that does not fit', () => {
    expect(encodeUtf8('aü漢', 3)).toEqual(encodeUtf8('aü'));
    expect(encodeUtf8('aü漢', 5)).toEqual(encodeUtf8('aü'));
    expect(encodeUtf8('aü漢', 6)).toEqual(encodeUtf8('aü漢'));
  });

  // RFC 3629 section 4: overlong forms, surrogates, what is past U+10FFFF, stray and missing continuation octets.
  it.each([
    ['80', '\ufffd'],
    ['c080', '\ufffd\ufffd'],
    ['c1bf', '\ufffd\ufffd'],
    ['e08080', '\ufffd\ufffd\ufffd'],
    ['eda080', '\ufffd\ufffd\ufffd'],
    ['f0808080', '\ufffd\ufffd\ufffd\ufffd'],
    ['f4908080', '\ufffd\ufffd\ufffd\ufffd'],
    ['f5808080', '\ufffd\ufffd\ufffd\ufffd'],
    ['ff', '\ufffd'],
    ['61e2', 'a\ufffd'],
    ['e28261', '\ufffd\ufffda'],
  ])('never interprets the octets %s', (hex, text) => {
    expect(decodeUtf8(Uint8Array.from(Buffer.from(hex, 'hex')))).toBe(text);
  });
});
