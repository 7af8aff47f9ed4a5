import { describe, expect, it } from 'vitest';
import { trimMemory } from './syscalls.ts';

describe('memory that was freed', () => {
  it('can be given back at any time, and says whether there was any', () => {
    expect(trimMemory()).toBeTypeOf('boolean');
  });
});
