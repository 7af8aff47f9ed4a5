import { readRegularFile } from '@bgp-lb/daemon';

/** Octets: certificates, manifests and configurations have some KiB, and what is in their place may have no end. */
export const MAX_TEXT_SIZE: number = 256 * 1024;

/** The text of a file that another program or the operator wrote. @throws Error that names the file, with `code` as of the system */
export function readTextFile(path: string): string {
  try {
    return readRegularFile(path, MAX_TEXT_SIZE).toString();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? { code: error.code } : {};
    const reason = error instanceof Error ? error.message : String(error);
    throw Object.assign(new Error(`${path} cannot be read: ${reason}`, { cause: error }), code);
  }
}

/** The same; undefined where there is no such file. */
export function readTextFileIfPresent(path: string): string | undefined {
  try {
    return readTextFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
