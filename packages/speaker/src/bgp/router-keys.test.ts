import { describe, expect, it } from 'vitest';
import { RouterKeys } from './router-keys.ts';

function attempts(keys: RouterKeys, count: number): readonly (string | undefined)[] {
  return Array.from({ length: count }, () => keys.next());
}

describe('the keys of a router', () => {
  it('are tried in turn until one works, which is then the first to be tried', () => {
    const keys = new RouterKeys(['old', 'new']);
    expect(attempts(keys, 4)).toEqual(['old', 'new', 'old', 'new']);
    keys.worked();
    expect(attempts(keys, 3)).toEqual(['new', 'old', 'new']);
  });

  it('are the same one each time where there is one, and none where there is none', () => {
    expect(attempts(new RouterKeys(['only']), 3)).toEqual(['only', 'only', 'only']);
    expect(attempts(new RouterKeys([]), 2)).toEqual([undefined, undefined]);
  });

  it('stay with the one that worked when the set changes around it', () => {
    const keys = new RouterKeys(['old', 'new']);
    keys.next();
    keys.next();
    keys.worked();
    keys.replace(['new']);
    expect(keys.next()).toBe('new');
    keys.replace(['newest']);
    expect(keys.next()).toBe('newest');
    keys.replace([]);
    expect(keys.next()).toBeUndefined();
  });
});
