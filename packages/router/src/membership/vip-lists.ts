import { isDeepStrictEqual } from 'node:util';
import { isSameVersion } from '@bgp-lb/protocol';
import type { ListedMember } from '../pool/member-claims.ts';
import type { MembershipSink } from './membership-source.ts';

/** What was listed for each VIP last: a list is reported when it has changed, and only then. */
export class VipLists {
  readonly #last = new Map<string, { readonly list: string; readonly members: readonly ListedMember[] }>();
  #sink: MembershipSink | undefined;

  start(sink: MembershipSink): void {
    this.#sink = sink;
  }

  stop(): void {
    this.#sink = undefined;
  }

  /** VIPs as prefixes, `10.100.0.1/32`. */
  get vips(): readonly string[] {
    return [...this.#last.keys()];
  }

  /** @param list its name for people; empty where the source has only one */
  set(vip: string, members: readonly ListedMember[], list = ''): void {
    const before = this.#last.get(vip) ?? { list, members: [] };
    this.#last.set(vip, { list, members });
    if (before.list === list && isDeepStrictEqual(before.members, members)) return;
    this.#sink?.([{ type: 'listed', vip, members, ...(list !== '' && { list }) }]);
  }

  /** The VIP is there no more: none is to be told. */
  forget(vip: string): void {
    this.#last.delete(vip);
  }
}

/** Those that a VIP may have: of its family, none of the VIPs, each address once. */
export function usableFor(
  vip: string,
  members: readonly ListedMember[],
  vips: readonly string[],
): readonly ListedMember[] {
  const usable = members.filter(({ address }) => isSameVersion(address, vip) && !vips.includes(address));
  return usable.filter(({ address }, index) => usable.findIndex((one) => one.address === address) === index);
}
