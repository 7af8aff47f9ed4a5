import * as z from 'zod';
import type { CrossFieldFault } from './cross-field-fault.ts';

/** Capabilities of a BGP session that it works without; what each costs is in the description of `withoutCapabilities`. */
const OPTIONAL = [
  'multiprotocol',
  'route-refresh',
  'enhanced-route-refresh',
  'four-octet-as',
  'extended-message',
  'add-path',
  'graceful-restart',
  'bfd-authentication',
] as const;

/** One of them. */
export type OptionalCapability = (typeof OPTIONAL)[number];

/** Schema of the list of optional capabilities that are not offered. */
export function withoutCapabilities(): z.ZodDefault<
  z.ZodArray<z.ZodEnum<{ [Name in OptionalCapability]: Name }>>
> {
  return z
    .array(z.enum(OPTIONAL))
    .max(OPTIONAL.length)
    .default([])
    .describe(
      'Capabilities that the OPEN leaves out, for a neighbor that ends the session at one that it does not know: `multiprotocol` (RFC 4760: such a session carries IPv4 alone), `route-refresh` (RFC 2918), `enhanced-route-refresh` (RFC 7313), `four-octet-as` (RFC 6793: an AS number of ours above 65535 is AS_TRANS to it then), `extended-message` (RFC 8654), `add-path` (RFC 7911: only the best path is exchanged), `graceful-restart` (RFC 4724: a neighbor of another make keeps nothing while this process restarts), `bfd-authentication` (our own: BFD stays without authentication, where `bfd.authentication` is `auto`). With all of them there is no optional parameter left (RFC 4271).',
    );
}

/** What is offered in an OPEN: settings of a session that win over others. */
export interface CapabilitySwitches {
  readonly multiprotocol: boolean;
  readonly routeRefresh: boolean;
  readonly enhancedRouteRefresh: boolean;
  readonly fourOctetAs: boolean;
  readonly extendedMessage: boolean;
  /** Only where path identifiers are left out. */
  readonly addPathSend?: readonly never[];
  readonly addPathReceive?: readonly never[];
}

/** The switches of a session that leaves these out. */
export function capabilitySwitches(without: readonly OptionalCapability[]): CapabilitySwitches {
  return {
    multiprotocol: !without.includes('multiprotocol'),
    routeRefresh: !without.includes('route-refresh'),
    enhancedRouteRefresh: !without.includes('enhanced-route-refresh'),
    fourOctetAs: !without.includes('four-octet-as'),
    extendedMessage: !without.includes('extended-message'),
    ...(without.includes('add-path') && { addPathSend: [], addPathReceive: [] }),
  };
}

/** Why a session with this neighbor cannot leave `multiprotocol` out. */
export function multiprotocolFault(
  without: readonly OptionalCapability[],
  addresses: readonly (string | undefined)[],
  path: readonly (string | number)[],
): readonly CrossFieldFault[] {
  if (!without.includes('multiprotocol') || !addresses.some((one) => one?.includes(':'))) return [];
  const message = 'is needed for IPv6 (RFC 4760)';
  const allowed = 'a session over IPv4 that carries IPv4 alone';
  return [{ path: [...path, without.indexOf('multiprotocol')], message, value: 'multiprotocol', allowed }];
}
