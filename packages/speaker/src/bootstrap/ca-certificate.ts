import { createHash } from 'node:crypto';
import { type Stats, statSync } from 'node:fs';
import { publicKeyHashes, readRegularFile } from '@bgp-lb/daemon';
import type { CaReading } from './latch.ts';

/** ca.crt of a cluster holds one or two certificates; this bounds what is read of a file that another program writes. */
const MAX_BYTES = 256 * 1024;

interface Loaded {
  readonly reading: CaReading;
  readonly pem: string | undefined;
}

/** ca.crt as it is now, read again only when its inode, size or time changed. */
export class CaCertificate {
  readonly #path: string;
  #seen: (Loaded & { readonly stats: Stats }) | undefined;
  #isUnlinked = false;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * The file was replaced while this process sees it through a mount of the single file: such a mount goes on showing the
   * old inode, which has no link left. Only a new mount, hence a new container, shows the new file.
   */
  get isUnlinked(): boolean {
    return this.#isUnlinked;
  }

  /** The text of the last good reading, to be the only root of the readiness probe. */
  get pem(): string | undefined {
    return this.#seen?.pem;
  }

  /** What this process cannot read now is no other file than it was: what was read of it before stays, and it is read again. */
  read(): CaReading {
    let stats: Stats;
    try {
      stats = statSync(this.#path);
    } catch (error) {
      if (isTrouble(error)) return unread(error);
      this.#isUnlinked = false;
      this.#seen = undefined;
      return { kind: 'missing', detail: reasonOf(error) };
    }
    this.#isUnlinked = stats.nlink === 0;
    const before = this.#seen;
    if (before !== undefined && isSameFile(before.stats, stats)) return before.reading;
    try {
      this.#seen = { stats, ...this.#load(stats) };
    } catch (error) {
      return unread(error);
    }
    return this.#seen.reading;
  }

  /** @throws Error of the system, when it does not let the file be read */
  #load(stats: Stats): Loaded {
    if (!stats.isFile()) return missing(`${this.#path} is not a file`);
    if (stats.size > MAX_BYTES) {
      return missing(`${this.#path} has ${stats.size} octets; allowed: at most ${MAX_BYTES}`);
    }
    try {
      const pem = readRegularFile(this.#path, MAX_BYTES).toString();
      const keys = [...new Set(publicKeyHashes(pem))];
      const digest = createHash('sha256').update(pem).digest('hex');
      const file = { inode: stats.ino, bornAt: stats.birthtimeMs };
      return { reading: { kind: 'present', keys, digest, modifiedAt: stats.mtimeMs, file }, pem };
    } catch (error) {
      if (isTrouble(error)) throw error;
      return missing(reasonOf(error));
    }
  }
}

/** Errors of the system that say that there is no such file, or that something else is in its place. */
const ABSENCE = new Set(['ENOENT', 'ENOTDIR', 'EISDIR']);

/** Out of descriptors or memory, a bad disk, no permission: it tells of this process and its host, and nothing of the cluster. */
function isTrouble(error: unknown): boolean {
  const isOfSystem = error instanceof Error && 'errno' in error && 'code' in error;
  return isOfSystem && !ABSENCE.has(String(error.code));
}

function unread(error: unknown): CaReading {
  return { kind: 'unread', detail: reasonOf(error) };
}

function missing(detail: string): Loaded {
  return { reading: { kind: 'missing', detail }, pem: undefined };
}

function isSameFile(a: Stats, b: Stats): boolean {
  return (
    a.ino === b.ino &&
    a.dev === b.dev &&
    a.size === b.size &&
    a.mtimeMs === b.mtimeMs &&
    a.ctimeMs === b.ctimeMs
  );
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
