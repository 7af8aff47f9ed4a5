import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { readRegularFile } from './read-regular-file.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const at = (name: string): string => join(folder.path, name);

describe('readRegularFile', () => {
  it.each([0, 1, 65_536, 65_537, 200_000])('reads a file of %i octets', (size) => {
    writeFileSync(at('file'), Buffer.alloc(size, 7));
    expect(readRegularFile(at('file'), 200_000)).toEqual(Buffer.alloc(size, 7));
  });

  it('follows a link, as from a folder that is replaced by renaming one', () => {
    writeFileSync(at('target'), 'text');
    symlinkSync(at('target'), at('link'));
    expect(readRegularFile(at('link'), 10).toString()).toBe('text');
  });

  it('reads files without a size, as those of /proc', () => {
    expect(readRegularFile('/proc/self/status', 100_000).toString()).toContain('Pid:');
  });

  it('refuses what is larger than allowed, and what has no end', () => {
    writeFileSync(at('large'), '12345');
    expect(() => readRegularFile(at('large'), 4)).toThrow('it has more than 4 octets');
    expect(() => readRegularFile('/dev/zero', 4)).toThrow('it is neither a file nor a link to one');
  });

  it('does not wait for a pipe that nobody writes to', () => {
    execFileSync('mkfifo', [at('pipe')]);
    expect(() => readRegularFile(at('pipe'), 10)).toThrow('it is neither a file nor a link to one');
  });

  it('names a folder and what is missing by the code of the system', () => {
    mkdirSync(at('folder'));
    symlinkSync(at('nowhere'), at('dangling'));
    const code = (name: string): unknown => {
      try {
        return readRegularFile(at(name), 10);
      } catch (error) {
        return error instanceof Error && 'code' in error ? error.code : error;
      }
    };
    expect(code('folder')).toBe('EISDIR');
    expect(code('dangling')).toBe('ENOENT');
    expect(code('none')).toBe('ENOENT');
  });
});
