import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unpackedLibrary } from './native-library.ts';

const content = new TextEncoder().encode('the library');
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'bgp-lb-native-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Unpacks into folders below the root, and reads what the descriptor that came back shows. */
function unpack(...folders: readonly string[]): string {
  const file = unpackedLibrary(
    'a.node',
    content,
    folders.map((folder) => join(root, folder)),
  );
  try {
    // As the dynamic linker does.
    return readFileSync(`/proc/self/fd/${file}`, 'utf8');
  } finally {
    closeSync(file);
  }
}

describe('a library that is unpacked', () => {
  it('is there for its owner alone, and stays for the next start', () => {
    expect(unpack('native')).toBe('the library');
    const path = join(root, 'native/a.node');
    expect(statSync(join(root, 'native')).mode & 0o777).toBe(0o700);
    expect(statSync(path).mode & 0o777).toBe(0o500);
    const { ino } = statSync(path);
    expect(unpack('native')).toBe('the library');
    expect(statSync(path).ino).toBe(ino);
  });

  it('is written anew when its octets are others', () => {
    unpack('native');
    const path = join(root, 'native/a.node');
    rmSync(path);
    writeFileSync(path, 'another one', { mode: 0o500 });
    expect(unpack('native')).toBe('the library');
    expect(readFileSync(path, 'utf8')).toBe('the library');
  });

  it('takes the place of a link instead of following it', () => {
    mkdirSync(join(root, 'native'), { mode: 0o700 });
    writeFileSync(join(root, 'elsewhere'), 'the library');
    symlinkSync(join(root, 'elsewhere'), join(root, 'native/a.node'));
    unpack('native');
    expect(statSync(join(root, 'native/a.node')).ino).not.toBe(statSync(join(root, 'elsewhere')).ino);
  });

  it('is not put where others may write, but into the next folder', () => {
    mkdirSync(join(root, 'open'));
    chmodSync(join(root, 'open'), 0o777);
    expect(() => unpack('open')).toThrow(/others may write to .*open \(mode 777\)/);
    writeFileSync(join(root, 'file'), '');
    expect(() => unpack('open', 'file')).toThrow(/cannot be unpacked: .*open.*; .*file/);
    expect(unpack('open', 'native')).toBe('the library');
  });
});
