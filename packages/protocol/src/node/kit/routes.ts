import {
  asn,
  formatPrefix,
  type Path,
  parseIpAddress,
  parsePrefix,
  pathAttributes,
  type Route,
} from '../../index.ts';

/** IPv4 routes of AS 65001 with next hop 10.0.0.1. */
export function routes(...prefixes: readonly string[]): readonly Route[] {
  const attributes = pathAttributes({
    origin: 0,
    asPath: [{ type: 2, asns: [asn(65001)] }],
    nextHop: parseIpAddress('10.0.0.1'),
  });
  return prefixes.map((text) => ({ prefix: parsePrefix(text), attributes }));
}

/** As `routes`, for a peer in the same AS: with LOCAL_PREF, which is mandatory there (RFC 4271 section 5.1.5). */
export function internalRoutes(...prefixes: readonly string[]): readonly Route[] {
  return routes(...prefixes).map(({ prefix, attributes }) => ({
    prefix,
    attributes: { ...attributes, localPref: 100 },
  }));
}

/** Many different IPv4 routes, each with attributes of its own, so that each takes an UPDATE. */
export function manyRoutes(count: number): readonly Route[] {
  return Array.from({ length: count }, (_, index) => ({
    prefix: parsePrefix(`10.${100 + (index >> 8)}.${index & 0xff}.0/24`),
    attributes: pathAttributes({
      origin: 0,
      asPath: [{ type: 2, asns: [asn(65001)] }],
      nextHop: parseIpAddress('10.0.0.1'),
      multiExitDisc: index,
    }),
  }));
}

/** The prefixes of paths, in order of text; stale ones end in ` stale`. */
export function prefixesOf(paths: readonly Path[]): readonly string[] {
  return paths.map(({ prefix, isStale }) => `${formatPrefix(prefix)}${isStale ? ' stale' : ''}`).sort();
}
