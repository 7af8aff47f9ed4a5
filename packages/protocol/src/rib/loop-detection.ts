import type { Asn } from '../types/asn.ts';
import type { IpAddress } from '../types/ip-address.ts';
import { equalIpAddress, formatIpAddress } from '../types/ip-address.ts';
import type { RouterId } from '../types/router-id.ts';
import { formatRouterId } from '../types/router-id.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';

/** Who we are, as far as a path that has passed us before shows it. What is absent is not looked for. */
export interface LocalIdentity {
  readonly localAsn?: Asn;
  readonly routerId?: RouterId;
  readonly clusterId?: RouterId;
}

/**
 * Why a path must not be used whatever policy says, or `undefined`: our AS in the AS_PATH (RFC 4271 section 9.1.2), our
 * BGP Identifier as ORIGINATOR_ID, our cluster in the CLUSTER_LIST (RFC 4456 section 8), or our end of the session as next hop (RFC 4271 section 5.1.3).
 */
export function loopReason(
  attributes: PathAttributes,
  local: LocalIdentity,
  localAddress: IpAddress | undefined,
): string | undefined {
  const { localAsn, routerId, clusterId } = local;
  if (localAsn !== undefined && attributes.asPath?.some(({ asns }) => asns.includes(localAsn))) {
    return `own AS ${localAsn} in AS_PATH`;
  }
  if (routerId !== undefined && attributes.originatorId === routerId) {
    return `own BGP Identifier ${formatRouterId(routerId)} in ORIGINATOR_ID`;
  }
  if (clusterId !== undefined && attributes.clusterList?.includes(clusterId)) {
    return `own cluster ${formatRouterId(clusterId)} in CLUSTER_LIST`;
  }
  const { nextHop } = attributes;
  if (nextHop !== undefined && localAddress !== undefined && equalIpAddress(nextHop, localAddress)) {
    return `own address ${formatIpAddress(localAddress)} as next hop`;
  }
  return undefined;
}
