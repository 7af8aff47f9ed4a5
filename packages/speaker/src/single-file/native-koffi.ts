/**
 * koffi's native part in the single-file executable: scripts/single-file.ts puts this in the place of the package `koffi`, whose
 * own loader looks for files beside it. Its functions are used as they are.
 */
import { closeSync } from 'node:fs';
import { getRawAsset } from 'node:sea';
import { unpackedLibrary } from './native-library.ts';

/** Names of what scripts/single-file.ts puts into the executable. */
export const ASSETS = { koffi: 'koffi.node', bfd: 'bfd.cjs' } as const;

/** The state folder first: `/run` is mounted noexec on many hosts. Both are mounted in the static pod. */
const FOLDERS = ['/var/lib/bgp-lb/native', '/run/bgp-lb/native'] as const;

/** Loads it. @throws NativeLibraryError when the file on disk cannot be trusted, Error when the linker refuses it */
export function nativeKoffi(): unknown {
  const file = unpackedLibrary(ASSETS.koffi, new Uint8Array(getRawAsset(ASSETS.koffi)), FOLDERS);
  try {
    const loaded: { exports: unknown } = { exports: {} };
    process.dlopen(loaded, `/proc/self/fd/${file}`);
    return loaded.exports;
  } finally {
    closeSync(file);
  }
}
