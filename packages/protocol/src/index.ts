export type { Asn } from './types/asn.ts';
export { AS_TRANS, asn, isPrivateAsn } from './types/asn.ts';
export type { Family } from './types/family.ts';
export { families, familyOf, ipv4Unicast, ipv6Unicast } from './types/family.ts';
export type { IpAddress } from './types/ip-address.ts';
export type { Prefix, PrefixKey } from './types/prefix.ts';
export type { RouterId } from './types/router-id.ts';
