import type { Peer } from '@bgp-lb/protocol/node';
import type { NamedNeighbor } from '../observe/router-observer.ts';
import type { BgpNeighbors } from './bgp-neighbors.ts';

/** A peer as logs name it. */
export function namedNeighbor(bgp: Pick<BgpNeighbors, 'neighborOf'>, peer: Peer): NamedNeighbor {
  const neighbor = bgp.neighborOf(peer);
  return { peer: peer.name, neighbor: neighbor?.name ?? peer.name, role: neighbor?.role ?? 'unknown' };
}
