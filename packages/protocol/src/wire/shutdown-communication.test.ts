import { describe, expect, it } from 'vitest';
import { parseShutdownCommunication, shutdownCommunication } from './shutdown-communication.ts';

describe('shutdown communication (RFC 9003)', () => {
  it('carries a text both ways', () => {
    const text = '[TICKET-1-1438367390] software upgrade; back in 2 hours, Grüße';
    const data = shutdownCommunication(text);
    expect(data[0]).toBe(data.length - 1);
    expect(parseShutdownCommunication(data)).toBe(text);
  });

  it('cuts a text at 255 octets, between two characters', () => {
    const data = shutdownCommunication(`${'a'.repeat(254)}üb`);
    expect([data.length, data[0]]).toEqual([255, 254]);
    expect(parseShutdownCommunication(data)).toBe('a'.repeat(254));
    expect(shutdownCommunication('x'.repeat(300))).toHaveLength(256);
  });

  it.each([
    ['no data', []],
    ['length 0', [0]],
    ['length 0 and octets', [0, 0x61]],
    ['a length without a text', [12]],
  ])('finds none in %s', (_, data) => {
    expect(parseShutdownCommunication(Uint8Array.from(data))).toBeUndefined();
  });

  it('reads no further than the data when the length says 255', () => {
    const data = Uint8Array.from([255, ...Array.from({ length: 128 }, () => 0x61)]);
    expect(parseShutdownCommunication(data)).toBe('a'.repeat(128));
  });

  it('reads no further than the length', () => {
    expect(parseShutdownCommunication(Uint8Array.of(1, 0x61, 0x62))).toBe('a');
  });

  it('does not interpret what is not UTF-8', () => {
    expect(parseShutdownCommunication(Uint8Array.of(4, 0x61, 0xc0, 0xaf, 0x62))).toBe('a\ufffd\ufffdb');
  });

  it.each([
    ['a\nb', 'a\\u{a}b'],
    ['\u001b[2J', '\\u{1b}[2J'],
    ['\u0000\u007f\u0085', '\\u{0}\\u{7f}\\u{85}'],
    ['\u202egnp.exe', '\\u{202e}gnp.exe'],
    ['line\u2028two', 'line\\u{2028}two'],
  ])('makes %j harmless', (text, shown) => {
    expect(parseShutdownCommunication(shutdownCommunication(text))).toBe(shown);
  });
});
