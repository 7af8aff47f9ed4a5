import { ControlError, type ControlRoute, parseBody } from '@bgp-lb/daemon';
import * as z from 'zod';
import type { BgpNeighbors } from '../bgp/bgp-neighbors.ts';

/** What is asked for by `POST /api/v1/reset`. */
const order = z.strictObject({
  /** Name or address of a neighbor. */
  neighbor: z.string().min(1).max(255),
  /** For the operator of the neighbor; what is longer than RFC 9003 allows is cut. */
  text: z.string().max(255).optional(),
});

/** A session that was ended, to be opened again. */
export interface ResetSession {
  readonly neighbor: string;
  readonly address: string;
  /** State of the session before. */
  readonly from: string;
}

/** Ends the session with a neighbor by Cease/Administrative Reset (RFC 4486) and opens it again. */
export function resetRoute(bgp: Pick<BgpNeighbors, 'peers'>): ControlRoute {
  return {
    method: 'POST',
    path: '/api/v1/reset',
    handle: ({ body }): ResetSession => {
      const { neighbor: wanted, text } = parseBody(order, body);
      const peers = bgp.peers().map(({ peer }) => peer);
      const found =
        peers.find(({ name }) => name === wanted) ?? peers.find(({ address }) => address === wanted);
      if (found === undefined) {
        const known = peers.map(({ name }) => name).join(', ');
        throw new ControlError(404, `no neighbor ${wanted}; known: ${known === '' ? 'none' : known}`);
      }
      const { name, address, state: from } = found;
      found.reset(text);
      return { neighbor: name, address, from };
    },
  };
}
