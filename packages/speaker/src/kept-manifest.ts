import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { placeFile } from './host-files.ts';
import { readTextFile } from './read-text-file.ts';

/** Name of the copy in the state folder, which `kubeadm reset` leaves alone. */
export const KEPT_MANIFEST = 'manifest.yaml';

/** Keeps what `manifest --place` gave to the kubelet. */
export function keepManifest(stateDir: string, pod: string): void {
  placeFile(join(stateDir, KEPT_MANIFEST), pod, 0o600);
}

/**
 * Gives the kubelet the manifest again that it once had: `kubeadm reset` empties its folder, and the next join needs it there.
 * @returns what was done, one sentence each
 */
export function restoreManifest(stateDir: string, manifest: string): readonly string[] {
  const kept = join(stateDir, KEPT_MANIFEST);
  if (existsSync(manifest) || !existsSync(kept)) return [];
  placeFile(manifest, readTextFile(kept), 0o600);
  return [`put ${manifest} back, as manifest --place wrote it last`];
}
