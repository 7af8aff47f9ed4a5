import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { readSecret } from './read-secret.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

function secretFile(content: string | Uint8Array, mode = 0o600): string {
  const path = join(folder.path, `secret-${Math.random().toString(36).slice(2)}`);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

describe('readSecret', () => {
  it.each([
    ['without a line end', 'hunter2', 'hunter2'],
    ['with one', 'hunter2\n', 'hunter2'],
    ['with one of Windows', 'hunter2\r\n', 'hunter2'],
    ['with spaces, which belong to it', ' a b \n', ' a b '],
    ['of 80 octets', 'x'.repeat(80), 'x'.repeat(80)],
  ])('reads a password %s', (_, content, expected) => {
    expect(readSecret(secretFile(content))).toBe(expected);
  });

  it.each([
    ['an empty file', '', /is empty; allowed: 1 to 80 octets/],
    ['a file of a line end', '\n', /is empty/],
    ['two lines', 'a\nb\n', /more than one line/],
    ['81 octets', 'x'.repeat(81), /has 81 octets; allowed: 1 to 80/],
    ['41 characters of 2 octets each', 'é'.repeat(41), /has 82 octets/],
    ['other than UTF-8', new Uint8Array([0xff, 0xfe]), /is not UTF-8/],
  ])('refuses %s', (_, content, message) => {
    expect(() => readSecret(secretFile(content))).toThrow(message);
  });

  it('refuses a file that every user may read, and does not show its content', () => {
    const path = secretFile('hunter2', 0o644);
    expect(() => readSecret(path)).toThrow(`password file ${path} has mode 0644`);
    expect(() => readSecret(path)).not.toThrow(/hunter2/);
  });

  it('takes a file of a group', () => {
    expect(readSecret(secretFile('hunter2', 0o640))).toBe('hunter2');
  });

  it('names a file that is missing or a folder', () => {
    expect(() => readSecret(join(folder.path, 'none'))).toThrow(/cannot be read: ENOENT/);
    expect(() => readSecret(folder.path)).toThrow(/is not a file/);
  });

  it('does not wait for a pipe', () => {
    const path = join(folder.path, 'pipe');
    execFileSync('mkfifo', ['-m', '0600', path]);
    expect(() => readSecret(path)).toThrow(/is not a file/);
  });
});
