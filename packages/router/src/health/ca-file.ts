import { statSync } from 'node:fs';
import { parseCertificates, readRegularFile } from '@bgp-lb/daemon';

/** The file is looked at this seldom at most (ms). */
const LOOK_GAP = 1000;
/** Octets: a CA bundle has some KiB, and the file may be another's mistake. */
const MAX_SIZE = 256 * 1024;

/** A CA bundle in a file that may appear, or be replaced, at any time. */
export class CaFile {
  #path: string;
  #now: () => number;
  #lastLook = Number.NEGATIVE_INFINITY;
  #identity = '';
  #text: string | undefined;
  #problem: string | undefined;

  constructor(path: string, now: () => number) {
    this.#path = path;
    this.#now = now;
  }

  /** What was read of a file that is not the configured one is forgotten. */
  configure({ healthCheck: { caFile: path } }: { readonly healthCheck: { readonly caFile: string } }): void {
    if (path === this.#path) return;
    this.#path = path;
    this.#lastLook = Number.NEGATIVE_INFINITY;
    this.#identity = '';
    this.#text = undefined;
  }

  /** The bundle (PEM); `undefined` while there is none. A file that can no longer be used leaves what was read before. */
  get text(): string | undefined {
    this.#look();
    return this.#text;
  }

  /** Whether servers are verified, by what, and what is wrong with the file, in one sentence. */
  get state(): { readonly verified: boolean; readonly detail: string } {
    this.#look();
    if (this.#text === undefined) {
      return { verified: false, detail: `certificates are not verified: ${this.#problem}` };
    }
    const against = `certificates are verified against ${this.#path}`;
    const detail = this.#problem === undefined ? against : `${against} as it was before: ${this.#problem}`;
    return { verified: true, detail };
  }

  #look(): void {
    const now = this.#now();
    if (now - this.#lastLook < LOOK_GAP) {
      return;
    }
    this.#lastLook = now;
    try {
      const { ino, mtimeMs, size } = statSync(this.#path);
      const identity = `${ino} ${mtimeMs} ${size}`;
      if (identity !== this.#identity) {
        this.#text = readBundle(this.#path);
        this.#identity = identity;
      }
      this.#problem = undefined;
    } catch (error) {
      const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      this.#problem = isAbsent
        ? `${this.#path} does not exist`
        : `${this.#path} cannot be used: ${error instanceof Error ? error.message : error}`;
    }
  }
}

/** @throws Error for a file that is damaged, or half written: the next look has it. With it every member would fail its check. */
function readBundle(path: string): string {
  const text = readRegularFile(path, MAX_SIZE).toString();
  parseCertificates(text);
  return text;
}
