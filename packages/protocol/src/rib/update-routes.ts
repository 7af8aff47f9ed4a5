import type { Prefix, PrefixKey } from '../types/prefix.ts';
import { prefixKey } from '../types/prefix.ts';
import type { RecalledAttributes } from '../wire/attribute-octets.ts';
import type { ReceivedUpdate, UpdateMessage } from '../wire/message.ts';
import type { NlriField } from '../wire/nlri-field.ts';
import type { MpReach, PathAttributes } from '../wire/path-attributes.ts';

/** What names a route of one peer: prefix and path identifier (RFC 7911 section 3). */
export interface RouteId {
  readonly prefix: Prefix;
  /** 0 where the family carries no path identifier. */
  readonly pathId: number;
}

/** The routes of an UPDATE by the fields that they came in; none of these is empty. */
export interface UpdateRoutes<Routes> {
  readonly withdrawn: readonly Routes[];
  readonly announced: readonly { readonly attributes: PathAttributes; readonly routes: Routes }[];
}

/** Identity of a prefix and path identifier as a Map key. */
export function routeKey(prefix: Prefix, pathId: number): PrefixKey {
  const key = prefixKey(prefix);
  // U+0100 is no latin1 character, so no IPv6 key can contain what is built here.
  return pathId === 0 ? key : `${key}\u0100${pathId}`;
}

/**
 * The four places of an UPDATE that hold routes (RFC 4271 section 4.3, RFC 4760 sections 3 and 4). Where the
 * UPDATE is to be treated as a withdrawal, what it announces is withdrawn (RFC 7606 section 2); so are announcements
 * without any attribute, which a decoder does not let through.
 */
export function routesOf<Routes extends { readonly length: number }>(
  update: UpdateMessage<Routes> & Partial<Pick<ReceivedUpdate, 'treatAsWithdraw' | 'recalled'>>,
): UpdateRoutes<Routes> {
  const { recalled, nlri, mpReach, mpUnreach } = update;
  const withdrawn: Routes[] = [];
  if (recalled !== undefined) {
    if (update.withdrawn.length > 0) withdrawn.push(update.withdrawn);
    return { withdrawn, announced: [new RecalledRoutes(recalled, nlri)] };
  }
  const { attributes } = update;
  const announced: { attributes: PathAttributes; routes: Routes }[] = [];
  if (update.withdrawn.length > 0) withdrawn.push(update.withdrawn);
  if (mpUnreach !== undefined && mpUnreach.nlri.length > 0) withdrawn.push(mpUnreach.nlri);
  const taken = update.treatAsWithdraw === true ? undefined : attributes;
  if (nlri.length > 0) {
    if (taken === undefined) withdrawn.push(nlri);
    else announced.push({ attributes: taken, routes: nlri });
  }
  if (mpReach !== undefined && mpReach.nlri.length > 0) {
    if (taken === undefined) withdrawn.push(mpReach.nlri);
    else announced.push({ attributes: withNextHopOf(mpReach, taken), routes: mpReach.nlri });
  }
  return { withdrawn, announced };
}

/** Announced with attributes that are made when they are asked for. */
class RecalledRoutes<Routes> {
  readonly routes: Routes;
  readonly #recalled: RecalledAttributes;

  constructor(recalled: RecalledAttributes, routes: Routes) {
    this.#recalled = recalled;
    this.routes = routes;
  }

  get attributes(): PathAttributes {
    return this.#recalled.memory.at(this.#recalled.number);
  }
}

/** The routes of a field, as objects. */
export function routeIds(field: NlriField): readonly RouteId[] {
  return field.toList().map(({ prefix, pathId }) => ({ prefix, pathId: pathId ?? 0 }));
}

/** A NEXT_HOP attribute beside MP_REACH_NLRI says nothing about the routes in it (RFC 4760 section 3). */
function withNextHopOf({ nextHop }: MpReach<unknown>, attributes: PathAttributes): PathAttributes {
  const { address, linkLocal } = nextHop;
  return { ...attributes, nextHop: address, linkLocalNextHop: linkLocal };
}
