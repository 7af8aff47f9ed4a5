import { createHash } from 'node:crypto';
import { AddressFlag, lastingGlobalAddress, NetlinkError, type RouteSocket } from '@bgp-lb/linux';
import { ipVersion, zoneOf } from '@bgp-lb/protocol';
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
export function sourceTowards(routes: Pick<RouteSocket, 'routeTo'>, address: string): string | undefined {
  try {
    return routes.routeTo(address).source;
  } catch (error) {
    if (error instanceof NetlinkError) return undefined;
    throw error;
  }
}

/** The interface that packets to an address leave by; `undefined` without a route. */
export function linkTowards(routes: Pick<RouteSocket, 'routeTo'>, address: string): number | undefined {
  try {
    return routes.routeTo(address).interfaceIndex;
  } catch (error) {
    if (error instanceof NetlinkError) return undefined;
    throw error;
  }
}

/**
 * Our link-local address on the link that an address is on; `undefined` when that is behind a gateway, or the link has none
 * that is ours for certain: one that is still being looked for on the link may turn out to be another's (RFC 4862 section 5.4).
 */
export function linkLocalTowards(
  routes: Pick<RouteSocket, 'routeTo' | 'addresses'>,
  address: string,
): string | undefined {
  try {
    const { gateway, interfaceIndex } = routes.routeTo(address);
    if (gateway !== undefined) return undefined;
    const unsure = AddressFlag.Tentative | AddressFlag.DadFailed;
    return routes
      .addresses({ index: interfaceIndex })
      .find((one) => /^fe[89ab]/.test(one.address) && (one.flags & unsure) === 0)?.address;
  } catch (error) {
    if (error instanceof NetlinkError) return undefined;
    throw error;
  }
}

/**
 * Our global address on the link of a link-local router, which goes beside the link-local one as next hop (RFC 2545 section 3);
 * `undefined` where there is none that others may rely on. A VIP is on `lo`, and never one.
 */
export function globalOnLinkOf(
  routes: Pick<RouteSocket, 'routeTo' | 'addresses'>,
  router: string,
): string | undefined {
  try {
    const { interfaceIndex } = routes.routeTo(router);
    return lastingGlobalAddress(routes.addresses({ index: interfaceIndex }));
  } catch (error) {
    if (error instanceof NetlinkError) return undefined;
    throw error;
  }
}

/** Milliseconds between looks at a host whose network is not complete yet, and how often. */
const LOOK_INTERVAL = 250;
const LOOK_ATTEMPTS = 120;

/**
 * Node address and router identifier. Waits half a minute for the address, or for a route to the first router where the
 * address comes from it: a machine that boots may start its pods before its network is complete.
 * @param attempts how often it looks
 * @throws HostFactsError when they can be had neither from the configuration nor from the routes, or the configured address
 *   is that of another machine, whose API server would be taken for ours
 */
export async function hostFacts(
  config: Pick<SpeakerConfig, 'apiServer' | 'routers' | 'routerId' | 'vips'>,
  routes: Pick<RouteSocket, 'routeTo'>,
  attempts: number = LOOK_ATTEMPTS,
): Promise<HostFacts> {
  // A link-local source is in no certificate.
  const router = config.routers.find(({ address }) => zoneOf(address) === undefined)?.address ?? '';
  const { address } = config.apiServer;
  const nodeAddress = await waitFor(
    attempts,
    () => (address === undefined ? sourceTowards(routes, router) : ownAddress(routes, address)),
    address === undefined
      ? `apiServer.address is not set, and there is no route to the first router ${router} to take it from`
      : `apiServer.address is ${address}, which is not an address of this host`,
  );
  if (config.vips.some(({ address }) => address === nodeAddress)) {
    throw new HostFactsError(
      `the source address towards ${router} is the VIP ${nodeAddress}: set apiServer.address`,
    );
  }
  return { nodeAddress, routerId: config.routerId ?? routerIdOf(nodeAddress) };
}

/** The BGP Identifier of a node without another one: its IPv4 address, or 32 bits that are as much its own as its IPv6 address is. */
function routerIdOf(nodeAddress: string): string {
  if (ipVersion(nodeAddress) === 4) return nodeAddress;
  const octets = createHash('sha256').update(`bgp-lb speaker ${nodeAddress}`).digest().subarray(0, 4);
  const text = octets.join('.');
  // 0 is no BGP Identifier (RFC 6286 section 2.1).
  return text === '0.0.0.0' ? '0.0.0.1' : text;
}

function ownAddress(routes: Pick<RouteSocket, 'routeTo'>, address: string): string | undefined {
  try {
    return routes.routeTo(address).type === 'local' ? address : undefined;
  } catch (error) {
    if (error instanceof NetlinkError) return undefined;
    throw error;
  }
}

async function waitFor(attempts: number, look: () => string | undefined, fault: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const found = look();
    if (found !== undefined) return found;
    if (attempt >= attempts) throw new HostFactsError(fault);
    await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL));
  }
}
