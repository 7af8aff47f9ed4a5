import { describe, expect, it } from 'vitest';
import { formatRouterId, parseRouterId, routerId } from './router-id.ts';

describe('BGP Identifier', () => {
  it.each([
    ['10.0.0.1', 0x0a000001],
    ['224.0.0.1', 0xe0000001],
    ['255.255.255.255', 0xffffffff],
    ['0.0.0.1', 1],
  ])('reads and writes %s', (text, value) => {
    expect(parseRouterId(text)).toBe(value);
    expect(formatRouterId(routerId(value))).toBe(text);
  });

  it.each(['0.0.0.0', '::1', '10.0.0', '167772161', ''])('refuses "%s"', (text) => {
    expect(() => parseRouterId(text)).toThrow(RangeError);
  });

  it.each([0, -1, 0x100000000, 1.5])('refuses the number %d', (value) => {
    expect(() => routerId(value)).toThrow(RangeError);
  });
});
