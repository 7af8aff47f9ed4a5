import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync, type Stats, statSync } from 'node:fs';
import type { CaReading } from './latch.ts';

/** ca.crt of a cluster holds one or two certificates; this bounds what is read of a file that somebody else writes. */
const MAX_BYTES = 256 * 1024;

const certificatePattern = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** ca.crt as it is now, read again only when its inode, size or time changed. */
export class CaCertificate {
  readonly #path: string;
  #seen: { stats: Stats; reading: CaReading; pem: string | undefined } | undefined;
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

  read(): CaReading {
    let stats: Stats;
    try {
      stats = statSync(this.#path);
    } catch (error) {
      this.#isUnlinked = false;
      this.#seen = undefined;
      return { kind: 'missing', detail: reasonOf(error) };
    }
    this.#isUnlinked = stats.nlink === 0;
    const before = this.#seen;
    if (before !== undefined && isSameFile(before.stats, stats)) return before.reading;
    const { reading, pem } = this.#load(stats);
    this.#seen = { stats, reading, pem };
    return reading;
  }

  #load(stats: Stats): { reading: CaReading; pem: string | undefined } {
    if (!stats.isFile())
      return { reading: { kind: 'missing', detail: `${this.#path} is not a file` }, pem: undefined };
    if (stats.size > MAX_BYTES) {
      return {
        reading: { kind: 'missing', detail: `${this.#path} has ${stats.size} bytes, more than ${MAX_BYTES}` },
        pem: undefined,
      };
    }
    try {
      const pem = readFileSync(this.#path, 'utf8');
      const keys = publicKeyHashes(pem);
      if (keys.length === 0)
        return { reading: { kind: 'missing', detail: `${this.#path} holds no certificate` }, pem: undefined };
      const digest = createHash('sha256').update(pem).digest('hex');
      return { reading: { kind: 'present', keys, digest, modifiedAt: stats.mtimeMs }, pem };
    } catch (error) {
      return { reading: { kind: 'missing', detail: reasonOf(error) }, pem: undefined };
    }
  }
}

/**
 * SHA-256 of the SubjectPublicKeyInfo of each certificate of a PEM text, in hexadecimal, in order, without repetition.
 * @throws Error when a block is not a certificate
 */
export function publicKeyHashes(pem: string): readonly string[] {
  const hashes = (pem.match(certificatePattern) ?? []).map((block) => {
    const spki = new X509Certificate(block).publicKey.export({ type: 'spki', format: 'der' });
    return createHash('sha256').update(spki).digest('hex');
  });
  return [...new Set(hashes)];
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
