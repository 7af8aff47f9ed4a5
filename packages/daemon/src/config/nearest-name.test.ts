import { describe, expect, it } from 'vitest';
import { editDistance, nearestName } from './nearest-name.ts';

describe('editDistance', () => {
  it.each([
    ['', '', 0],
    ['a', '', 1],
    ['kitten', 'sitting', 3],
    ['interval', 'intervall', 1],
    ['ab', 'ba', 2],
  ])('of %j and %j is %d', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
    expect(editDistance(b, a)).toBe(distance);
  });
});

describe('nearestName', () => {
  const known = ['holdTime', 'interval', 'asn', 'range'];

  it.each([
    ['holdtime', 'holdTime'],
    ['hold_time', 'holdTime'],
    ['intervall', 'interval'],
    ['as', 'asn'],
    ['zebra', undefined],
    ['', undefined],
  ])('for %j is %j', (name, expected) => {
    expect(nearestName(name, known)).toBe(expected);
  });

  it('does not compare names of any length', () => {
    expect(nearestName('x'.repeat(1_000_000), ['x'.repeat(1_000_000)])).toBeUndefined();
  });
});
