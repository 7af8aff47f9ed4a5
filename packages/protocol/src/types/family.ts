/** An address family of the multiprotocol extensions (RFC 4760 section 3): AFI and SAFI. */
export interface Family {
  /** Address Family Identifier, as IANA assigns it. */
  readonly afi: number;
  /** Subsequent Address Family Identifier. */
  readonly safi: number;
  /** IANA words, for people: `ipv4-unicast`. */
  readonly name: string;
  /** The longest prefix of this family, in bits. */
  readonly maxPrefixLength: number;
}

export const ipv4Unicast: Family = Object.freeze({
  afi: 1,
  safi: 1,
  name: 'ipv4-unicast',
  maxPrefixLength: 32,
});
export const ipv6Unicast: Family = Object.freeze({
  afi: 2,
  safi: 1,
  name: 'ipv6-unicast',
  maxPrefixLength: 128,
});

/** Every family whose NLRI this library reads and writes. Instances are interned: compare them with `===`. */
export const families: readonly Family[] = Object.freeze([ipv4Unicast, ipv6Unicast]);

/** The interned family of an AFI/SAFI pair, or `undefined` when this library does not carry it. */
export function familyOf(afi: number, safi: number): Family | undefined {
  return families.find((family) => family.afi === afi && family.safi === safi);
}
