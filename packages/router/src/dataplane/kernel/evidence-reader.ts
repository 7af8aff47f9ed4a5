import { type CountedElement, NftCounters, RouteSocket } from '@bgp-lb/linux';
import { formatIpAddress, formatScoped, ipAddress, isLinkLocal } from '@bgp-lb/protocol';
import type { ClientCount, ClientCounts } from '../../evidence/client-counts.ts';
import { evidenceSets } from './evidence-table.ts';
import { EVIDENCE_TABLE } from './nft-table.ts';

/** Reads what `evidenceTable` has counted. */
export class EvidenceReader {
  /** Opened by the first question: a data plane that nothing is counted for needs none. */
  #counters: NftCounters | undefined;
  #routes: RouteSocket | undefined;

  /**
   * Everything since the tables were made; a table that is not there has counted nothing.
   * @throws NetlinkError, NetlinkFormatError
   */
  read(): ClientCounts {
    const nameOf = this.#names();
    const all = (set: string, read: (key: Fields) => Omit<ClientCount, 'packets'>): ClientCount[] =>
      this.#all(set, nameOf, read);
    // What comes later is read later, so that nothing seems to be lost that is on its way.
    const arrived = this.arrived(nameOf);
    const sent = all(evidenceSets.sent, (key) => ({
      vip: key.address(),
      uplink: key.interface(),
      nextHop: key.nextHop(),
    }));
    const followed = all(evidenceSets.followed, (key) => ({ vip: key.address(), nextHop: key.nextHop() }));
    const established = all(evidenceSets.established, (key) => ({
      vip: key.address(),
      nextHop: key.nextHop(),
    }));
    return { arrived, sent, followed, established };
  }

  /**
   * Of these only the SYNs as they arrived.
   * @throws NetlinkError, NetlinkFormatError
   */
  arrived(nameOf: (index: number) => string = this.#names()): readonly ClientCount[] {
    return this.#all(evidenceSets.arrived, nameOf, (key) => ({
      vip: key.address(),
      uplink: key.interface(),
    }));
  }

  close(): void {
    this.#counters?.close();
    this.#routes?.close();
    this.#counters = undefined;
    this.#routes = undefined;
  }

  /** Asked for where one is to be named. */
  #names(): (index: number) => string {
    let names: ReadonlyMap<number, string> | undefined;
    return (index) => {
      this.#routes ??= new RouteSocket();
      names ??= new Map(this.#routes.links().map((link) => [link.index, link.name]));
      return names.get(index) ?? String(index);
    };
  }

  #all(
    set: string,
    nameOf: (index: number) => string,
    read: (key: Fields) => Omit<ClientCount, 'packets'>,
  ): ClientCount[] {
    return ([4, 6] as const).flatMap((version) =>
      this.#elements(version, set).map(({ key, packets }) => ({
        ...read(new Fields(key, version, nameOf)),
        packets,
      })),
    );
  }

  #elements(version: 4 | 6, set: string): readonly CountedElement[] {
    this.#counters ??= new NftCounters();
    return this.#counters.elements(version === 4 ? 'ip' : 'ip6', EVIDENCE_TABLE, set) ?? [];
  }
}

/** The fields of a key, one after the other. */
class Fields {
  readonly #key: Uint8Array;
  readonly #length: number;
  readonly #nameOf: (index: number) => string;
  #offset = 0;

  constructor(key: Uint8Array, version: 4 | 6, nameOf: (index: number) => string) {
    this.#key = key;
    this.#length = version === 4 ? 4 : 16;
    this.#nameOf = nameOf;
  }

  address(): string {
    return formatIpAddress(ipAddress(this.#take(this.#length)));
  }

  interface(): string {
    const bytes = this.#take(4);
    return this.#nameOf(new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true));
  }

  /** The interface that a packet leaves by, and whom it is given to there; a link-local one with its zone. */
  nextHop(): string {
    const zone = this.#take(4);
    const address = ipAddress(this.#take(this.#length));
    if (!isLinkLocal(address)) return formatIpAddress(address);
    const index = new DataView(zone.buffer, zone.byteOffset, 4).getUint32(0, true);
    return formatScoped(address, this.#nameOf(index));
  }

  #take(length: number): Uint8Array {
    const bytes = this.#key.subarray(this.#offset, this.#offset + length);
    this.#offset += length;
    return bytes;
  }
}
