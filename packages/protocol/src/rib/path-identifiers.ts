import type { Path } from './path.ts';

interface Taken {
  readonly id: number;
  references: number;
}

/**
 * The path identifiers under which paths are sent on (RFC 7911 section 3): one for each source and identifier that it
 * sent, so that those of one prefix differ, and that a path keeps its own for as long as its source has any path,
 * whatever becomes the best one. The lowest free number is taken, from 1.
 */
export class PathIdentifiers {
  /** By source and the identifier that it gave. */
  readonly #taken = new Map<string, Map<number, Taken>>();
  readonly #free: number[] = [];
  #size = 0;

  /** The identifier of a path. Each call takes a reference, which `release` gives back. */
  take({ from, pathId }: Path): number {
    const ofSource = this.#taken.get(from.name) ?? new Map<number, Taken>();
    if (ofSource.size === 0) this.#taken.set(from.name, ofSource);
    const known = ofSource.get(pathId);
    if (known !== undefined) {
      known.references += 1;
      return known.id;
    }
    const id = this.#lowestFree();
    ofSource.set(pathId, { id, references: 1 });
    this.#size += 1;
    return id;
  }

  /** @throws RangeError for a path that has no identifier */
  of(path: Path): number {
    return this.#find(path).id;
  }

  /** @throws RangeError for a path that has no identifier */
  release(path: Path): void {
    const known = this.#find(path);
    known.references -= 1;
    if (known.references > 0) return;
    const ofSource = this.#taken.get(path.from.name);
    ofSource?.delete(path.pathId);
    if (ofSource?.size === 0) this.#taken.delete(path.from.name);
    this.#size -= 1;
    this.#free.push(known.id);
  }

  #find({ from, pathId }: Path): Taken {
    const known = this.#taken.get(from.name)?.get(pathId);
    if (known === undefined) throw new RangeError(`a path of ${from.name} has no identifier`);
    return known;
  }

  #lowestFree(): number {
    const lowest = this.#free.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    if (lowest === Number.POSITIVE_INFINITY) return this.#size + 1;
    this.#free.splice(this.#free.indexOf(lowest), 1);
    return lowest;
  }
}
