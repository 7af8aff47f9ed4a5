/** An IPv4 or IPv6 address in network byte order: 4 or 16 octets. Never changed after it is made. */
export interface IpAddress {
  readonly version: 4 | 6;
  readonly bytes: Uint8Array;
}
