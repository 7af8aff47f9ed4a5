import type { Prefix, PrefixKey } from '../types/prefix.ts';
import { prefixKey } from '../types/prefix.ts';
import type { UpdateMessage } from '../wire/message.ts';
import type { Nlri } from '../wire/nlri.ts';
import type { MpReach, PathAttributes } from '../wire/path-attributes.ts';

/** What names a route of one peer: prefix and path identifier (RFC 7911 section 3). */
export interface RouteId {
  readonly prefix: Prefix;
  /** 0 where the family carries no path identifier. */
  readonly pathId: number;
}

/** The routes of an UPDATE, whichever of its fields they came in. */
export interface UpdateRoutes {
  readonly withdrawn: readonly RouteId[];
  readonly announced: readonly { readonly attributes: PathAttributes; readonly routes: readonly RouteId[] }[];
}

/** Identity of a prefix and path identifier as a Map key. */
export function routeKey(prefix: Prefix, pathId: number): PrefixKey {
  const key = prefixKey(prefix);
  // U+0100 is no latin1 character, so no IPv6 key can contain what is built here.
  return pathId === 0 ? key : `${key}\u0100${pathId}`;
}

/**
 * Reads the four places of an UPDATE that hold routes (RFC 4271 section 4.3, RFC 4760 sections 3 and 4). Where the
 * UPDATE is to be treated as a withdrawal, what it announces is withdrawn (RFC 7606 section 2); so are announcements
 * without any attribute, which a decoder does not let through.
 */
export function routesOf(update: UpdateMessage & { readonly treatAsWithdraw?: boolean }): UpdateRoutes {
  const { attributes, mpReach } = update;
  const withdrawn = [...update.withdrawn, ...(update.mpUnreach?.nlri ?? [])].map(routeId);
  if (update.treatAsWithdraw === true || attributes === undefined) {
    withdrawn.push(...update.nlri.map(routeId), ...(mpReach?.nlri ?? []).map(routeId));
    return { withdrawn, announced: [] };
  }
  const announced: { attributes: PathAttributes; routes: RouteId[] }[] = [];
  if (update.nlri.length > 0) announced.push({ attributes, routes: update.nlri.map(routeId) });
  if (mpReach !== undefined && mpReach.nlri.length > 0) {
    announced.push({ attributes: withNextHopOf(mpReach, attributes), routes: mpReach.nlri.map(routeId) });
  }
  return { withdrawn, announced };
}

/** A NEXT_HOP attribute beside MP_REACH_NLRI says nothing about the routes in it (RFC 4760 section 3). */
function withNextHopOf(mpReach: MpReach, attributes: PathAttributes): PathAttributes {
  const { address, linkLocal } = mpReach.nextHop;
  return { ...attributes, nextHop: address, linkLocalNextHop: linkLocal };
}

function routeId({ prefix, pathId }: Nlri): RouteId {
  return { prefix, pathId: pathId ?? 0 };
}
