import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Replaces a file whole, so that a reader and a crash see the old or the new one, and returns when it is on disk: new file,
 * fsync, rename, fsync of the folder. Only its owner may read it and its folder.
 * @throws Error when the disk does not take it
 */
export function replaceFile(path: string, text: string): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const next = `${path}.new`;
  const file = openSync(next, 'w', 0o600);
  try {
    // Unlike writeSync it goes on after a short write, which is how a disk begins to be full.
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(next, path);
  const directory = openSync(folder, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
