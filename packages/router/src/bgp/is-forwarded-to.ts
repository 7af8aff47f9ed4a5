import { formatPrefix, nextHopText, type Path } from '@bgp-lb/protocol';
import type { DataPlane } from '../dataplane/data-plane.ts';
import type { Pool } from '../pool/pool.ts';

/** Whether packets go to a path's next hop; `undefined` for one that is no member of ours, of which another router may know. */
export function isForwardedTo(
  path: Path,
  pools: ReadonlyMap<string, Pick<Pool, 'members'>>,
  dataPlane: Pick<DataPlane, 'forwarding'>,
): boolean | undefined {
  const vip = formatPrefix(path.prefix);
  const nextHop = nextHopText(path);
  if (dataPlane.forwarding(vip).includes(nextHop)) {
    return true;
  }
  const isMember = pools
    .get(vip)
    ?.members()
    .some((member) => member.nextHop === nextHop);
  return isMember === true ? false : undefined;
}
