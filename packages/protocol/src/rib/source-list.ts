import { equalIpAddress } from '../types/ip-address.ts';
import type { PathSource } from './path.ts';

interface Entry {
  source: PathSource;
  paths: number;
}

/**
 * The sources of the paths of one peer, under small numbers: one while a session lasts, one more for each session before
 * it that has left paths.
 */
export class SourceList {
  readonly #entries: Entry[] = [];

  /** The number of a source, which is the same for equal ones. The caller counts a path to it, until `release`. */
  hold(source: PathSource): number {
    let number = this.#entries.findIndex((entry) => entry.paths > 0 && isSameSource(entry.source, source));
    if (number < 0) number = this.#entries.findIndex(({ paths }) => paths === 0);
    if (number < 0) number = this.#entries.length;
    const entry = this.#entries[number];
    if (entry === undefined || entry.paths === 0) this.#entries[number] = { source, paths: 1 };
    else entry.paths += 1;
    return number;
  }

  release(number: number): void {
    const entry = this.#entries[number];
    if (entry !== undefined) entry.paths -= 1;
  }

  at(number: number): PathSource {
    const entry = this.#entries[number];
    if (entry === undefined) throw new RangeError(`no source has number ${number}`);
    return entry.source;
  }
}

/** True when paths of both are from the same session, for all that they show. */
export function isSameSource(a: PathSource, b: PathSource): boolean {
  if (a === b) return true;
  return (
    a.name === b.name &&
    a.zone === b.zone &&
    a.routerId === b.routerId &&
    a.asn === b.asn &&
    a.isInternal === b.isInternal &&
    equalIpAddress(a.address, b.address)
  );
}
