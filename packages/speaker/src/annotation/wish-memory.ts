import { join } from 'node:path';
import { MAX_STATE_SIZE, readRegularFile, replaceFile } from '@bgp-lb/daemon';
import * as z from 'zod';
import type { DrainWish } from './drain-wish.ts';

const memory = z.strictObject({
  version: z.literal(1),
  node: z.string(),
  wish: z.enum(['none', 'drain', 'force']),
});

/** The last known wish of the Node, in drain-annotation.json of the state folder: a restart while the API is out of reach ends no drain. */
export class WishMemory {
  readonly #path: string;
  readonly #node: string;
  readonly #warn: (message: string) => void;
  #wish: DrainWish;

  constructor(stateDir: string, node: string, warn: (message: string) => void) {
    this.#path = join(stateDir, 'drain-annotation.json');
    this.#node = node;
    this.#warn = warn;
    this.#wish = this.#read();
  }

  get wish(): DrainWish {
    return this.#wish;
  }

  /** Follows it from now on, also when the disk does not take it: that is told. */
  set(wish: DrainWish): void {
    if (wish === this.#wish) return;
    this.#wish = wish;
    try {
      replaceFile(this.#path, `${JSON.stringify({ version: 1, node: this.#node, wish }, null, 2)}\n`);
    } catch (error) {
      this.#warn(`a restart will forget that ${this.#node} asks for ${wish}: ${String(error)}`);
    }
  }

  #read(): DrainWish {
    let text: string;
    try {
      text = readRegularFile(this.#path, MAX_STATE_SIZE).toString();
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'none';
      this.#warn(`${this.#path} cannot be read, and is not followed: ${String(error)}`);
      return 'none';
    }
    try {
      const { node, wish } = memory.parse(JSON.parse(text));
      return node === this.#node ? wish : 'none';
    } catch {
      this.#warn(`${this.#path} is none that this version writes, and is not followed`);
      return 'none';
    }
  }
}
