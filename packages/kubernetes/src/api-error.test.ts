import { describe, expect, it } from 'vitest';
import { errorText } from './api-error.ts';

describe('the text of an error', () => {
  it('has the innermost reason once, on one line, bounded', () => {
    const cause = new Error('connect ECONNREFUSED 10.0.0.1:6443');
    expect(errorText(new Error('fetch failed', { cause }))).toBe(`fetch failed: ${cause.message}`);
    expect(errorText(new Error(`it cannot be read: ${cause.message}`, { cause }))).toBe(
      `it cannot be read: ${cause.message}`,
    );
    expect(errorText(new AggregateError([new Error('a'), new Error('b')]))).toBe('a; b');
    expect(errorText(new Error(`one\ntwo\u001b[31m${'x'.repeat(1_000)}`))).toMatch(
      /^one two \[31mx{280,290}$/,
    );
    expect(errorText('text')).toBe('text');
  });
});
