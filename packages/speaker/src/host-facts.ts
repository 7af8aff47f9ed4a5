import { NetlinkError, type RouteSocket } from '@bgp-lb/linux';
import type { SpeakerConfig } from './config/speaker-config.ts';

/** What the configuration leaves to the host. */
export interface HostFacts {
  readonly nodeAddress: string;
  readonly routerId: string;
}

/** The host does not have what the speaker needs to start. */
class HostFactsError extends Error {
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

/** Milliseconds between looks at a host that has no route to its router yet, and how often. */
const ROUTE_INTERVAL = 250;
const ROUTE_ATTEMPTS = 120;

/**
 * Node address and router identifier. Waits half a minute for a route to the first router where the address comes from it:
 * a machine that boots may start its pods before its network is complete.
 * @throws HostFactsError when they can be had neither from the configuration nor from the routes
 */
export async function hostFacts(config: SpeakerConfig, routes: RouteSocket): Promise<HostFacts> {
  const router = config.routers[0]?.address ?? '';
  const nodeAddress = config.apiServer.address ?? (await waitForSource(routes, router));
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

async function waitForSource(routes: RouteSocket, router: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const source = sourceTowards(routes, router);
    if (source !== undefined) return source;
    if (attempt === ROUTE_ATTEMPTS) {
      throw new HostFactsError(
        `apiServer.address is not set, and there is no route to the first router ${router} to take it from`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, ROUTE_INTERVAL));
  }
}
