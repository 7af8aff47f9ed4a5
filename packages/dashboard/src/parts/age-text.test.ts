import { expect, it } from 'vitest';
import { ageText } from './age-text.ts';

it.each([
  [420, '0.4 s'],
  [59_900, '59 s'],
  [185_000, '3 min 5 s'],
  [7_800_000, '2 h 10 min'],
  [443_000_000, '5 d 3 h'],
])('%i ms is %s', (ms, text) => {
  expect(ageText(ms)).toBe(text);
});
