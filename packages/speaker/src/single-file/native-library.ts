import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** The file or its folder is not what may be loaded into a process of root. */
class NativeLibraryError extends Error {
  override readonly name = 'NativeLibraryError';
}

/**
 * A file of the executable on the disk, where the dynamic linker can load it from. It is kept for the next start, and checked
 * each time: the folder must be this user's and no other user may write to it, the file must have exactly these octets.
 * @param folders where it may be, the first choice first: a container has a read-only root
 * @returns the descriptor of the checked file, which is to be loaded by `/proc/self/fd`, so that it is the one that was checked
 * @throws NativeLibraryError with the reason of each folder
 */
export function unpackedLibrary(name: string, content: Uint8Array, folders: readonly string[]): number {
  const reasons: string[] = [];
  for (const folder of folders) {
    try {
      return unpackInto(folder, name, content);
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new NativeLibraryError(`${name} cannot be unpacked: ${reasons.join('; ')}`);
}

function unpackInto(folder: string, name: string, content: Uint8Array): number {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  checkFolder(folder);
  const path = join(folder, name);
  const wanted = digest(content);
  const present = openChecked(path, wanted);
  if (present !== undefined) return present;
  const next = join(folder, `.${name}.${randomBytes(6).toString('hex')}`);
  try {
    writeFileSync(next, content, { mode: 0o500, flag: 'wx' });
    chmodSync(next, 0o500);
    renameSync(next, path);
  } finally {
    rmSync(next, { force: true });
  }
  const written = openChecked(path, wanted);
  if (written === undefined) throw new NativeLibraryError(`${path} was changed while it was written`);
  return written;
}

function checkFolder(folder: string): void {
  const stats = lstatSync(folder);
  const user = process.geteuid?.() ?? 0;
  if (!stats.isDirectory()) throw new NativeLibraryError(`${folder} is not a folder`);
  if (stats.uid !== user) {
    throw new NativeLibraryError(`${folder} belongs to user ${stats.uid}; it has to be ${user}'s`);
  }
  if ((stats.mode & 0o022) !== 0) {
    throw new NativeLibraryError(`others may write to ${folder} (mode ${(stats.mode & 0o777).toString(8)})`);
  }
}

/** `undefined` when it is not there, or not as wanted: it is then written again. */
function openChecked(path: string, wanted: string): number | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
  if (fstatSync(file).isFile() && digest(readFileSync(file)) === wanted) return file;
  closeSync(file);
  return undefined;
}

function digest(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
