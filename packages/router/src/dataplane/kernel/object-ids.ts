import type { KernelObjects } from './kernel-objects.ts';

/** Ids of nexthop groups: 84000000 to 84003999, four for each VIP. Documented: operators read them in `ip nexthop`. */
const GROUP_IDS: { readonly first: number; readonly slots: number; readonly perSlot: number } = {
  first: 84_000_000,
  slots: 1000,
  perSlot: 4,
};
/** Ids of member next hops: 84004000 to 84007999. */
const MEMBER_IDS: { readonly first: number; readonly count: number } = {
  first: 84_004_000,
  count: 4000,
};
/** The id of a member's twin is that of the member and this: 84008000 to 84011999. */
const TWIN_OFFSET = MEMBER_IDS.count;

/**
 * Ids of nexthop objects that a restart finds again. A VIP's group ids follow from its address; a member's id is
 * the one that the kernel has for its gateway, else the lowest that is free. Ids that others use are left alone.
 */
export class ObjectIds {
  #groupSlots = new Map<string, number>();
  #members = new Map<string, number>();
  #foreign: ReadonlySet<number> = new Set();

  constructor(vips: readonly string[]) {
    this.setVips(vips);
  }

  /** Those that stay keep their ids. */
  setVips(vips: readonly string[]): void {
    const kept = [...this.#groupSlots].filter(([vip]) => vips.includes(vip));
    this.#groupSlots = groupSlots(vips, new Map(kept));
  }

  /** The ids in the kernel that are not ours. Call before `adopt`. */
  setForeign(ids: ReadonlySet<number>): void {
    this.#foreign = ids;
  }

  /**
   * Takes over the ids of the groups that the kernel's routes lead to: which id a VIP has depends on which other ones there were when it
   * came. Before anything is made.
   */
  adoptGroups(actual: KernelObjects): void {
    const used = new Map<string, number>();
    for (const { destination, target } of actual.routes.values()) {
      const slot = target.kind === 'group' ? slotOf(target.id) : undefined;
      const isFree = slot !== undefined && ![...used.values()].includes(slot);
      if (isFree && this.#groupSlots.has(destination)) used.set(destination, slot);
    }
    this.#groupSlots = groupSlots([...this.#groupSlots.keys()], used);
  }

  /** Takes over the member ids that the kernel has. */
  adopt(actual: KernelObjects): void {
    for (const { id, gateway } of actual.nexthops.values()) {
      const isTwin = id >= MEMBER_IDS.first + TWIN_OFFSET;
      if (!(isTwin || this.#members.has(gateway))) {
        this.#members.set(gateway, id);
      }
    }
  }

  /**
   * The id for a VIP's group with that many buckets, or for a plain one. The kernel changes neither type nor number of buckets in
   * place, so where the group in the kernel has others the next id of the VIP is taken, and the route moves over.
   */
  group(vip: string, buckets: number | undefined, actual: KernelObjects): number {
    const slot = this.#groupSlots.get(vip);
    if (slot === undefined) {
      throw new RangeError(`VIP ${vip}: not configured`);
    }
    const first = GROUP_IDS.first + slot * GROUP_IDS.perSlot;
    const candidates = Array.from({ length: GROUP_IDS.perSlot }, (_, i) => first + i).filter(
      (id) => !this.#foreign.has(id),
    );
    const fits = (id: number): boolean => {
      const group = actual.groups.get(id);
      return group !== undefined && group.resilient?.buckets === buckets;
    };
    const isFree = (id: number): boolean => !(actual.groups.has(id) || actual.nexthops.has(id));
    const id = candidates.find(fits) ?? candidates.find(isFree);
    if (id === undefined) {
      throw new RangeError(`VIP ${vip}: no nexthop id is free from ${first} to ${first + 3}`);
    }
    return id;
  }

  /** The id of the next hop to a gateway, the same for as long as `retain` names it. */
  member(gateway: string): number {
    const known = this.#members.get(gateway);
    if (known !== undefined && !this.#foreign.has(known)) {
      return known;
    }
    const taken = new Set(this.#members.values());
    for (let id = MEMBER_IDS.first; id < MEMBER_IDS.first + MEMBER_IDS.count; id++) {
      if (!(taken.has(id) || this.#foreign.has(id))) {
        this.#members.set(gateway, id);
        return id;
      }
    }
    throw new RangeError(`next hop ${gateway}: all ${MEMBER_IDS.count} nexthop ids are taken`);
  }

  /** The id of a second next hop to the same gateway as that of a member; `undefined` where others have it. */
  twin(member: number): number | undefined {
    const id = member + TWIN_OFFSET;
    return this.#foreign.has(id) ? undefined : id;
  }

  /** Forgets the ids of all other gateways. */
  retain(gateways: ReadonlySet<string>): void {
    for (const gateway of this.#members.keys()) {
      if (!gateways.has(gateway)) {
        this.#members.delete(gateway);
      }
    }
  }
}

function slotOf(id: number): number | undefined {
  const slot = Math.floor((id - GROUP_IDS.first) / GROUP_IDS.perSlot);
  return slot >= 0 && slot < GROUP_IDS.slots ? slot : undefined;
}

/**
 * FNV-1a of the VIP's text, with linear probing in the order of the addresses: the same for the same set of VIPs.
 * @param known slots that are taken already
 */
function groupSlots(vips: readonly string[], known: ReadonlyMap<string, number>): Map<string, number> {
  const slots = new Map(known);
  const taken = new Set(known.values());
  for (const vip of vips.filter((one) => !known.has(one)).sort()) {
    let slot = fnv1a(vip) % GROUP_IDS.slots;
    while (taken.has(slot)) {
      slot = (slot + 1) % GROUP_IDS.slots;
    }
    taken.add(slot);
    slots.set(vip, slot);
  }
  return slots;
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  }
  return hash;
}
