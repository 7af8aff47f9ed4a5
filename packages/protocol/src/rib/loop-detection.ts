import type { Asn } from '../types/asn.ts';
import type { RouterId } from '../types/router-id.ts';
import { formatRouterId } from '../types/router-id.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import { SegmentType } from '../wire/path-attributes.ts';
import type { PathSource } from './path.ts';

/** Who we are, as far as a path that has passed us before shows it. What is absent is not looked for. */
export interface LocalIdentity {
  readonly localAsn?: Asn;
  readonly routerId?: RouterId;
  readonly clusterId?: RouterId;
  readonly enforceFirstAs?: boolean;
}

/**
 * Why a path must not be used whatever policy says, or `undefined`: our AS in the AS_PATH (RFC 4271 section 9.1.2), our
 * BGP Identifier as ORIGINATOR_ID or our cluster in the CLUSTER_LIST (RFC 4456 section 8), or a left-most AS that is
 * not the external peer's (RFC 4271 section 6.3).
 */
export function loopReason(
  attributes: PathAttributes,
  from: PathSource,
  local: LocalIdentity,
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
  if (from.isInternal || local.enforceFirstAs === false) return undefined;
  return firstAsReason(attributes, from);
}

function firstAsReason(attributes: PathAttributes, from: PathSource): string | undefined {
  const first = attributes.asPath?.[0];
  if (first === undefined) return `AS_PATH is empty, expected AS ${from.asn} of the peer first`;
  const accepted =
    first.type === SegmentType.AsSet ? first.asns.includes(from.asn) : first.asns[0] === from.asn;
  return accepted
    ? undefined
    : `AS_PATH begins with AS ${first.asns[0]}, expected AS ${from.asn} of the peer`;
}
