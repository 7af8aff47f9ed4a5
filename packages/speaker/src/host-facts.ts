import { NetlinkError, type RouteSocket } from '@bgp-lb/linux';
import type { SpeakerConfig } from './config/speaker-config.ts';

/** What the configuration leaves to the host. */
export interface HostFacts {
  readonly nodeAddress: string;
  readonly routerId: string;
}

/** The host does not have what the speaker needs to start. */
export class HostFactsError extends Error {
  override readonly name = 'HostFactsError';
}

/** The address that this host uses towards another one; `undefined` without a route. */
export function sourceTowards(routes: RouteSocket, address: string): string | undefined {
  try {
    return routes.routeTo(address).source;
  } catch (error) {
    if (error instanceof NetlinkError) return undefined;
    throw error;
  }
}

/**
 * Node address and router identifier.
 * @throws HostFactsError when they can be had neither from the configuration nor from the routes
 */
export function hostFacts(config: SpeakerConfig, routes: RouteSocket): HostFacts {
  const router = config.routers[0]?.address ?? '';
  const nodeAddress = config.apiServer.address ?? sourceTowards(routes, router);
  if (nodeAddress === undefined) {
    throw new HostFactsError(
      `apiServer.address is not set, and there is no route to the first router ${router} to take it from`,
    );
  }
  if (config.vips.some(({ address }) => address === nodeAddress)) {
    throw new HostFactsError(
      `the source address towards ${router} is the VIP ${nodeAddress}: set apiServer.address`,
    );
  }
  const routerId = config.routerId ?? nodeAddress;
  if (routerId.includes(':'))
    throw new HostFactsError(`routerId is not set, and the node address ${nodeAddress} is not IPv4`);
  return { nodeAddress, routerId };
}
