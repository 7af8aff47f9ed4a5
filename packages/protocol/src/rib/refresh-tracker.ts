import type { Family } from '../types/family.ts';
import type { PrefixKey } from '../types/prefix.ts';
import type { ReceivedUpdate } from '../wire/message.ts';
import type { Path } from './path.ts';
import { type RouteId, routeIds, routeKey, routesOf } from './update-routes.ts';

/**
 * What a peer has not sent again between the beginning and the end of a route refresh (RFC 7313 section 4). Such a route
 * is in use until the end; unlike one that is stale after a restart, it is as good as the others.
 */
export class RefreshTracker {
  readonly #left = new Map<Family, Map<PrefixKey, RouteId>>();

  /** A refresh of this family goes on. */
  isRefreshing(family: Family): boolean {
    return this.#left.has(family);
  }

  /** BoRR: these are all the paths of the peer. One more before the EoRR begins again. */
  begin(family: Family, paths: Iterable<Path>): void {
    const left = new Map<PrefixKey, RouteId>();
    for (const { prefix, pathId } of paths) {
      if (prefix.family === family) left.set(routeKey(prefix, pathId), { prefix, pathId });
    }
    this.#left.set(family, left);
  }

  /** An UPDATE of the peer: what it names, announced or withdrawn, is up to date. */
  note(update: ReceivedUpdate): void {
    if (this.#left.size === 0) return;
    const { withdrawn, announced } = routesOf(update);
    for (const field of [...withdrawn, ...announced.map(({ routes }) => routes)]) {
      const left = this.#left.get(field.family);
      for (const { prefix, pathId } of routeIds(field)) left?.delete(routeKey(prefix, pathId));
    }
  }

  /** EoRR, or nothing waits for it any more. @returns what was not sent again; nothing without a BoRR before */
  end(family: Family): readonly RouteId[] {
    const left = this.#left.get(family);
    this.#left.delete(family);
    return [...(left?.values() ?? [])];
  }

  /** The session is over. */
  clear(): void {
    this.#left.clear();
  }
}
