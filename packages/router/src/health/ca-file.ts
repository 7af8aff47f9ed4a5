import { readFileSync, statSync } from 'node:fs';

/** The file is looked at this seldom at most (ms). */
const LOOK_GAP = 1000;

/** A CA bundle in a file that may appear, or be replaced, at any time. */
export class CaFile {
  #path: string;
  #now: () => number;
  #lastLook = Number.NEGATIVE_INFINITY;
  #identity = '';
  #text: string | undefined;
  #problem = '';

  constructor(path: string, now: () => number) {
    this.#path = path;
    this.#now = now;
  }

  /** Another file from now on; what was read of the one before is forgotten. */
  use(path: string): void {
    if (path === this.#path) return;
    this.#path = path;
    this.#lastLook = Number.NEGATIVE_INFINITY;
    this.#identity = '';
    this.#text = undefined;
  }

  /** The bundle (PEM); `undefined` while there is none. A file that becomes unreadable leaves what was read before. */
  get text(): string | undefined {
    this.#look();
    return this.#text;
  }

  /** Whether servers are verified, and if not, why, in one sentence. */
  get state(): { readonly verified: boolean; readonly detail: string } {
    this.#look();
    return this.#text === undefined
      ? { verified: false, detail: `certificates are not verified: ${this.#problem}` }
      : { verified: true, detail: `certificates are verified against ${this.#path}` };
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
        const text = readFileSync(this.#path, 'utf8');
        // Empty for a moment while somebody writes it: the next look has it.
        if (text.includes('-----END CERTIFICATE-----')) {
          this.#text = text;
          this.#identity = identity;
        } else {
          this.#problem = `${this.#path} has no certificate in it`;
        }
      }
    } catch (error) {
      const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      this.#problem = isAbsent
        ? `${this.#path} does not exist yet`
        : `${this.#path} cannot be read: ${error instanceof Error ? error.message : error}`;
    }
  }
}
