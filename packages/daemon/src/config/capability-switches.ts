import * as z from 'zod';

/** Capabilities of a BGP session that it works without; what each costs is in the description of `withoutCapabilities`. */
const OPTIONAL = ['route-refresh', 'enhanced-route-refresh', 'four-octet-as', 'extended-message'] as const;

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
      'Capabilities that the OPEN leaves out, for a neighbour that ends the session at one that it does not know: `route-refresh` (RFC 2918), `enhanced-route-refresh` (RFC 7313), `four-octet-as` (RFC 6793: an AS number of ours above 65535 is AS_TRANS to it then), `extended-message` (RFC 8654).',
    );
}

/** What is offered in an OPEN. */
export interface CapabilitySwitches {
  readonly routeRefresh: boolean;
  readonly enhancedRouteRefresh: boolean;
  readonly fourOctetAs: boolean;
  readonly extendedMessage: boolean;
}

/** The switches of a session that leaves these out. */
export function capabilitySwitches(without: readonly OptionalCapability[]): CapabilitySwitches {
  return {
    routeRefresh: !without.includes('route-refresh'),
    enhancedRouteRefresh: !without.includes('enhanced-route-refresh'),
    fourOctetAs: !without.includes('four-octet-as'),
    extendedMessage: !without.includes('extended-message'),
  };
}
