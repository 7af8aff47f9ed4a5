import type { IpAddress } from '../types/ip-address.ts';
import type { PathAttributes, RawAttribute } from '../wire/path-attributes.ts';

const noUnknown: readonly RawAttribute[] = Object.freeze([]);

/** A set of path attributes that a table holds under a number; to all others it is like any other set. */
export class InternedAttributes implements PathAttributes {
  readonly origin: PathAttributes['origin'];
  readonly asPath: PathAttributes['asPath'];
  readonly nextHop: PathAttributes['nextHop'];
  readonly linkLocalNextHop: PathAttributes['linkLocalNextHop'];
  readonly multiExitDisc: PathAttributes['multiExitDisc'];
  readonly localPref: PathAttributes['localPref'];
  readonly atomicAggregate: PathAttributes['atomicAggregate'];
  readonly aggregator: PathAttributes['aggregator'];
  readonly communities: PathAttributes['communities'];
  readonly originatorId: PathAttributes['originatorId'];
  readonly clusterList: PathAttributes['clusterList'];
  readonly extendedCommunities: PathAttributes['extendedCommunities'];
  readonly largeCommunities: PathAttributes['largeCommunities'];
  readonly unknown: PathAttributes['unknown'];
  readonly partial: PathAttributes['partial'];
  readonly #number: number;

  /**
   * @param a normalised; its octets are copied, so that a route does not keep a received segment alive, and its lists,
   *   since one that was grown has room for more
   * @param nextHop that of `a`, as an object that may be shared
   */
  constructor(a: PathAttributes, nextHop: IpAddress | undefined, number: number) {
    this.origin = a.origin;
    this.asPath = a.asPath?.map(({ type, asns }) => ({ type, asns: asns.slice() }));
    this.nextHop = nextHop;
    this.linkLocalNextHop = a.linkLocalNextHop && ownAddress(a.linkLocalNextHop);
    this.multiExitDisc = a.multiExitDisc;
    this.localPref = a.localPref;
    this.atomicAggregate = a.atomicAggregate;
    this.aggregator = a.aggregator && { asn: a.aggregator.asn, address: ownAddress(a.aggregator.address) };
    this.communities = a.communities?.slice();
    this.originatorId = a.originatorId;
    this.clusterList = a.clusterList?.slice();
    this.extendedCommunities = a.extendedCommunities?.map(({ bytes }) => ({ bytes: new Uint8Array(bytes) }));
    this.largeCommunities = a.largeCommunities?.slice();
    this.unknown = a.unknown.length === 0 ? noUnknown : a.unknown.map(ownUnknown);
    this.partial = a.partial?.slice();
    this.#number = number;
  }

  /** The number of a set in the table that it is, or was, held by; -1 for one that never was. */
  static numberOf(attributes: PathAttributes): number {
    return #number in attributes ? attributes.#number : -1;
  }
}

/** The constructor copies; `slice` of a Node Buffer would share the memory. */
export function ownAddress({ version, bytes }: IpAddress): IpAddress {
  return { version, bytes: new Uint8Array(bytes) };
}

function ownUnknown({ code, flags, value }: RawAttribute): RawAttribute {
  return { code, flags, value: new Uint8Array(value) };
}
