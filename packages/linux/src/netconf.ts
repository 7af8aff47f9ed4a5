/** Changes of the settings of IP: RTM_*NETCONF (include/uapi/linux/netconf.h). */
import { type IpVersion, versionOfFamily } from './internet-address.ts';
import { PayloadReader } from './netlink-message.ts';

/** RTM_*NETCONF. */
export const NetconfMessage = { New: 80, Delete: 81 } as const;

const structureLength = 4;
const interfaceAttribute = 1;

/**
 * Whose settings the kernel has changed: `forwarding` and `rp_filter` are among those that it tells of, not all are. The
 * values are to be read again.
 */
export interface Netconf {
  readonly version: IpVersion;
  /** The interface; -1 for `all`, -2 for `default` (NETCONFA_IFINDEX_ALL, NETCONFA_IFINDEX_DEFAULT). */
  readonly index: number;
}

/** Reads the payload of RTM_*NETCONF; undefined for families other than IPv4 and IPv6. @throws NetlinkFormatError */
export function parseNetconf(payload: Uint8Array): Netconf | undefined {
  const reader = new PayloadReader(payload, structureLength, 'netconfmsg');
  const version = versionOfFamily(reader.u8(0));
  const index = reader.attributes().u32(interfaceAttribute);
  return version === undefined || index === undefined ? undefined : { version, index: index | 0 };
}
