/** Paths for tests, named by who sent them. */
import { asn } from '../../types/asn.ts';
import { parseIpAddress } from '../../types/ip-address.ts';
import { parsePrefix } from '../../types/prefix.ts';
import { parseRouterId } from '../../types/router-id.ts';
import type { PathAttributes } from '../../wire/path-attributes.ts';
import { Origin, pathAttributes } from '../../wire/path-attributes.ts';
import type { Path, PathSource } from '../path.ts';

/** A peer with the address 10.0.0.N. */
export function source(host: number, fields: Partial<PathSource> = {}): PathSource {
  const address = `10.0.0.${host}`;
  return {
    name: `m${host}`,
    address: parseIpAddress(address),
    routerId: parseRouterId(address),
    asn: asn(64512),
    isInternal: true,
    ...fields,
  };
}

/** The path to 10.100.0.1/32, or another prefix, that such a peer announces with itself as next hop. */
export function pathFrom(
  from: PathSource,
  fields: Partial<PathAttributes> = {},
  { prefix = '10.100.0.1/32', pathId = 0 }: { prefix?: string; pathId?: number } = {},
): Path {
  return {
    prefix: parsePrefix(prefix),
    pathId,
    attributes: pathAttributes({
      origin: Origin.Igp,
      asPath: [],
      nextHop: from.address,
      localPref: from.isInternal ? 100 : undefined,
      ...fields,
    }),
    from,
    learnedAt: 0,
    isStale: false,
  };
}
