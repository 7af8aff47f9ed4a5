import { describe, expect, it } from 'vitest';
import { errnoName, errnoText, SystemCallError } from './errno.ts';

describe('error numbers', () => {
  it.each([
    [2, 'ENOENT'],
    [11, 'EAGAIN'],
    [95, 'EOPNOTSUPP'],
    [105, 'ENOBUFS'],
    [524, 'ENOTSUPP'],
    [4095, 'E4095'],
  ])('%i is %s', (number, name) => {
    expect(errnoName(number)).toBe(name);
  });

  it('have a text, or else their name', () => {
    expect(errnoText(2)).toBe('no such file or directory');
    expect(errnoText(4095)).toBe('E4095');
  });

  it('make an error like those of Node', () => {
    expect(new SystemCallError('setsockopt(TCP_MD5SIG)', 12)).toMatchObject({
      code: 'ENOMEM',
      errno: -12,
      syscall: 'setsockopt(TCP_MD5SIG)',
    });
  });
});
