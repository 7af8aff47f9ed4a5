import { type CountedElement, NftCounters, RouteSocket } from '@bgp-lb/linux';
import { formatIpAddress, formatScoped, ipAddress, isLinkLocal } from '@bgp-lb/protocol';
import type { ClientCount, ClientCounts } from '../../evidence/client-counts.ts';
import { evidenceSets } from './evidence-table.ts';
import { EVIDENCE_TABLE } from './nft-table.ts';

/** What the reader asks the kernel. */
interface EvidenceSource {
  readonly counters: Pick<NftCounters, 'elements' | 'close'>;
  readonly routes: Pick<RouteSocket, 'links' | 'close'>;
}

/** Reads what `evidenceTable` has counted. */
export class EvidenceReader {
  #opened: EvidenceSource | undefined;

  /** Opened by the first question: a data plane that nothing is counted for needs none. */
  get #source(): EvidenceSource {
    this.#opened ??= { counters: new NftCounters(), routes: new RouteSocket() };
    return this.#opened;
  }

  /**
   * Everything since the tables were made; a table that is not there has counted nothing.
   * @throws NetlinkError, NetlinkFormatError
   */
  read(): ClientCounts {
    let names: ReadonlyMap<number, string> | undefined;
    const nameOf = (index: number): string => {
      names ??= new Map(this.#source.routes.links().map((link) => [link.index, link.name]));
      return names.get(index) ?? String(index);
    };
    const all = (set: string, read: (key: Fields) => Omit<ClientCount, 'packets'>): ClientCount[] =>
      ([4, 6] as const).flatMap((version) =>
        this.#elements(version, set).map(({ key, packets }) => ({
          ...read(new Fields(key, version, nameOf)),
          packets,
        })),
      );
    // What comes later is read later, so that nothing seems to be lost that is on its way.
    const arrived = all(evidenceSets.arrived, (key) => ({ vip: key.address(), uplink: key.interface() }));
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

  close(): void {
    this.#opened?.counters.close();
    this.#opened?.routes.close();
    this.#opened = undefined;
  }

  #elements(version: 4 | 6, set: string): readonly CountedElement[] {
    return this.#source.counters.elements(version === 4 ? 'ip' : 'ip6', EVIDENCE_TABLE, set) ?? [];
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
