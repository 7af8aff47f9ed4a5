import type { Family } from './family.ts';

/** An IP prefix in canonical form: all bits past `length` are zero (RFC 4271 section 4.3). Never changed. */
export interface Prefix {
  readonly family: Family;
  /** 4 or 16 octets, network byte order. */
  readonly bytes: Uint8Array;
  /** In bits, 0 to `family.maxPrefixLength`. */
  readonly length: number;
}

/** Identity of a prefix for use as a Map key: a number for IPv4, a 17-octet latin1 string for IPv6. */
export type PrefixKey = number | string;
