import { readRegularFile, replaceFile } from '@bgp-lb/daemon';
import * as z from 'zod';

/** Octets of the file: what is longer was not written by us. */
const LONGEST = 8 << 20;
const kept = z.strictObject({ version: z.literal(1), answers: z.record(z.string(), z.string()) });

/** The last good answers of sources, by name, in one file of the state folder: a start while no server answers goes on with them. */
export class KeptAnswers {
  readonly #path: string;
  readonly #complain: (problem: string) => void;
  readonly #answers: Map<string, string>;

  /** @param complain told what the disk refuses, or has and is of no use */
  constructor(path: string, complain: (problem: string) => void) {
    this.#path = path;
    this.#complain = complain;
    this.#answers = new Map(Object.entries(this.#read()));
  }

  get(name: string): string | undefined {
    return this.#answers.get(name);
  }

  set(name: string, answer: string): void {
    if (this.#answers.get(name) === answer) return;
    this.#answers.set(name, answer);
    this.#write();
  }

  /** Forgets all others. */
  retain(names: ReadonlySet<string>): void {
    const gone = [...this.#answers.keys()].filter((name) => !names.has(name));
    for (const name of gone) this.#answers.delete(name);
    if (gone.length > 0) this.#write();
  }

  #write(): void {
    try {
      const answers = Object.fromEntries(this.#answers);
      replaceFile(this.#path, `${JSON.stringify({ version: 1, answers }, null, 2)}\n`);
    } catch (error) {
      this.#complain(`a restart will not know the members of now: ${textOf(error)}`);
    }
  }

  #read(): Readonly<Record<string, string>> {
    let text: string;
    try {
      text = readRegularFile(this.#path, LONGEST).toString('utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
      this.#complain(`${this.#path} cannot be read, and is not used: ${textOf(error)}`);
      return {};
    }
    try {
      return kept.parse(JSON.parse(text)).answers;
    } catch {
      this.#complain(`${this.#path} is none that this version writes, and is not used`);
      return {};
    }
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
