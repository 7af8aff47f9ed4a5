import { statSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { dirname } from 'node:path';
import type { CrossFieldFault } from './cross-field-fault.ts';
import { readSecret, SecretError } from './read-secret.ts';

type Path = CrossFieldFault['path'];

/** What a key names on this host. */
export interface NamedOnHost {
  /** The key. */
  readonly path: Path;
  /** Path of the file or folder, or the address; `undefined` where the key is not given. */
  readonly value: string | undefined;
  /**
   * `password`: a file that `readSecret` takes. `folder`: there, or to be made. `file`: may be missing. `other-host`: an address that
   * no interface here has.
   */
  readonly is: 'password' | 'folder' | 'file' | 'other-host';
}

/** What is on this host and contradicts the configuration, each named with its key. */
export function hostFaults(named: readonly NamedOnHost[]): CrossFieldFault[] {
  return named.flatMap(({ path, value, is }): CrossFieldFault[] => {
    if (value === undefined) return [];
    const fault = CHECKS[is](value);
    return fault === undefined ? [] : [{ path, value, ...fault }];
  });
}

type Check = (value: string) => Pick<CrossFieldFault, 'message' | 'allowed'> | undefined;

const CHECKS: Readonly<Record<NamedOnHost['is'], Check>> = {
  password(path) {
    try {
      readSecret(path);
      return undefined;
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      const { fault, allowed } = error;
      return { message: fault, allowed: allowed ?? 'a file with a password of 1 to 80 octets, of mode 0600' };
    }
  },
  folder(path) {
    for (let at = path; ; at = dirname(at)) {
      const stat = statOf(at);
      if (stat !== undefined) {
        if (stat.isDirectory()) return undefined;
        const message = at === path ? 'is not a folder' : `cannot be made: ${at} is not a folder`;
        return { message, allowed: 'a folder, or a path at which one can be made' };
      }
      if (at === dirname(at)) return undefined;
    }
  },
  file(path) {
    const stat = statOf(path);
    if (stat === undefined || stat.isFile()) return undefined;
    return { message: stat.isDirectory() ? 'is a folder' : 'is not a file', allowed: 'the path of a file' };
  },
  'other-host'(address) {
    const isOwn = Object.values(networkInterfaces()).some((own) =>
      own?.some((one) => one.address === address),
    );
    if (!isOwn) return undefined;
    return { message: 'is an address of this host itself', allowed: 'an address of the other end' };
  },
};

/** `undefined` where there is nothing, or where it cannot be looked at. */
function statOf(path: string): ReturnType<typeof statSync> | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // ENOTDIR is found above it; EACCES is for who runs the daemon to see.
    return undefined;
  }
}
