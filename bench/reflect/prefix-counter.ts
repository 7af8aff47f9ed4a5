import type { Frame } from '@bgp-lb/protocol';
import { firstNetwork } from '../bgp/encoded-table.ts';

/** Octets of the header (RFC 4271 section 4.1). */
const headerLength = 19;

/** Which prefixes of the made-up table a client has been told of. It reads the NLRI of UPDATEs and nothing else of them. */
export class PrefixCounter {
  readonly #known: Uint8Array;
  #count = 0;
  #updates = 0;

  /** @param prefixes of the table */
  constructor(prefixes: number) {
    this.#known = new Uint8Array(prefixes);
  }

  /** Different prefixes. */
  get count(): number {
    return this.#count;
  }

  get isComplete(): boolean {
    return this.#count === this.#known.length;
  }

  /** UPDATEs that announce. */
  get updates(): number {
    return this.#updates;
  }

  /** @throws Error when the UPDATE withdraws, or announces what is not in the table: then nothing is measured. */
  take({ bytes }: Frame): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    if (view.getUint16(headerLength) > 0) throw new Error('routes were withdrawn');
    let at = headerLength + 4 + view.getUint16(headerLength + 2);
    if (at < bytes.length) this.#updates += 1;
    for (; at < bytes.length; at += 4) {
      const word = view.getUint32(at);
      const number = (word & 0xffffff) - firstNetwork;
      if (word >>> 24 !== 24 || this.#known[number] === undefined)
        throw new Error('not a prefix of the table');
      if (this.#known[number] === 1) continue;
      this.#known[number] = 1;
      this.#count += 1;
    }
  }
}
