import type { Path } from './path.ts';

/**
 * The path identifiers under which paths are sent on (RFC 7911 section 3): one for each source and identifier that it
 * sent, so that those of one prefix differ, and that a path keeps its own for as long as its source has any path,
 * whatever becomes the best one. The lowest free number is taken, from 1.
 */
export class PathIdentifiers {
  readonly #taken = new Map<string, { readonly id: number; references: number }>();
  readonly #free: number[] = [];

  /** The identifier of a path. Each call takes a reference, which `release` gives back. */
  take(path: Path): number {
    const key = keyOf(path);
    const known = this.#taken.get(key);
    if (known !== undefined) {
      known.references += 1;
      return known.id;
    }
    const id = this.#lowestFree();
    this.#taken.set(key, { id, references: 1 });
    return id;
  }

  /** @throws RangeError for a path that has no identifier */
  of(path: Path): number {
    const known = this.#taken.get(keyOf(path));
    if (known === undefined) throw new RangeError(`a path of ${path.from.name} has no identifier`);
    return known.id;
  }

  /** @throws RangeError for a path that has no identifier */
  release(path: Path): void {
    const key = keyOf(path);
    const known = this.#taken.get(key);
    if (known === undefined) throw new RangeError(`a path of ${path.from.name} has no identifier`);
    known.references -= 1;
    if (known.references > 0) return;
    this.#taken.delete(key);
    this.#free.push(known.id);
  }

  #lowestFree(): number {
    const lowest = this.#free.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    if (lowest === Number.POSITIVE_INFINITY) return this.#taken.size + 1;
    this.#free.splice(this.#free.indexOf(lowest), 1);
    return lowest;
  }
}

function keyOf({ from, pathId }: Path): string {
  return `${pathId} ${from.name}`;
}
