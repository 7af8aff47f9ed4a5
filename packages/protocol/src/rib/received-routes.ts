import type { Family } from '../types/family.ts';
import type { PrefixKey } from '../types/prefix.ts';
import { NotificationError } from '../wire/errors.ts';
import type { NlriField } from '../wire/nlri-field.ts';
import { CeaseSubcode, NotificationCode } from '../wire/notification-codes.ts';
import { routeIds, routeKey, type UpdateRoutes } from './update-routes.ts';

/**
 * Counts what a peer announces, whether import policy takes it or not: a limit on the paths that are held is no
 * protection where policy refuses what is too much (RFC 4486 section 4 leaves open which is meant). It remembers no more
 * routes than the limit allows.
 */
export class ReceivedRoutes {
  readonly #limit: number;
  readonly #routes = new Map<Family, Set<PrefixKey>>();

  /** @param limit the most routes of one family */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Counts an UPDATE.
   * @throws NotificationError Cease/Maximum Number of Prefixes Reached when a family would pass the limit; nothing is
   *   counted then
   */
  count({ withdrawn, announced }: UpdateRoutes<NlriField>): void {
    const wanted = new Map<Family, Map<PrefixKey, 'announce' | 'withdraw'>>();
    const want = (family: Family, key: PrefixKey, what: 'announce' | 'withdraw'): unknown =>
      (wanted.get(family) ?? wanted.set(family, new Map()).get(family))?.set(key, what);
    for (const { prefix, pathId } of withdrawn.flatMap(routeIds)) {
      want(prefix.family, routeKey(prefix, pathId), 'withdraw');
    }
    for (const { prefix, pathId } of announced.flatMap(({ routes }) => routeIds(routes))) {
      want(prefix.family, routeKey(prefix, pathId), 'announce');
    }
    for (const [family, routes] of wanted) this.#check(family, routes);
    for (const [family, routes] of wanted) this.#apply(family, routes);
  }

  /** The session is over: the next one announces everything again. */
  clear(): void {
    this.#routes.clear();
  }

  #check(family: Family, wanted: ReadonlyMap<PrefixKey, 'announce' | 'withdraw'>): void {
    const there = this.#routes.get(family) ?? new Set();
    let change = 0;
    for (const [key, what] of wanted) change += (what === 'announce' ? 1 : 0) - (there.has(key) ? 1 : 0);
    if (change > 0 && there.size + change > this.#limit) throw maximumReached(family, this.#limit);
  }

  #apply(family: Family, wanted: ReadonlyMap<PrefixKey, 'announce' | 'withdraw'>): void {
    const there = this.#routes.get(family) ?? new Set();
    this.#routes.set(family, there);
    for (const [key, what] of wanted) {
      if (what === 'announce') there.add(key);
      else there.delete(key);
    }
  }
}

/** Data of the NOTIFICATION: AFI, SAFI, and the limit in four octets (RFC 4486 section 4). */
export function maximumReached(family: Family, limit: number): NotificationError {
  const data = new Uint8Array(7);
  const view = new DataView(data.buffer);
  view.setUint16(0, family.afi);
  view.setUint8(2, family.safi);
  view.setUint32(3, Math.min(limit, 0xffffffff));
  return new NotificationError(NotificationCode.Cease, CeaseSubcode.MaximumNumberOfPrefixesReached, data);
}
