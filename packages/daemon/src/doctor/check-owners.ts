import { type Finding, fault, good, warning } from './finding.ts';

/** How the links are asked who has an address. */
export interface OwnerQuestion {
  readonly addresses: readonly string[];
  /** `address` is the link-layer address; `undefined` where the link has none. */
  readonly links: readonly { readonly index: number; readonly name: string; readonly address?: string }[];
  /** The link-layer addresses that answer. Throws when it cannot be asked. */
  ask(link: { readonly index: number; readonly address: string }, address: string): readonly string[];
  /** Who an owner is, where that is known: ` (10.0.0.11)`. */
  nameOf?(owner: string): string;
  /** Whether an owner is one that has to answer: a load balancer of ours. */
  isExpected?(owner: string): boolean;
  readonly fix: string;
}

/** Asks each link that speaks ARP or neighbor discovery whether another host has one of our addresses. */
export function checkOwners({
  addresses,
  links,
  ask,
  nameOf,
  isExpected,
  fix,
}: OwnerQuestion): readonly Finding[] {
  const check = 'vip owner';
  return addresses.flatMap((address) =>
    links.map(({ index, name, address: own }) => {
      if (own === undefined) return good(check, name, `${address}: the link has no neighbors`);
      try {
        const owners = ask({ index, address: own }, address);
        const who = owners.map((owner) => `${owner}${nameOf?.(owner) ?? ''}`).join(', ');
        if (owners.length === 0) return good(check, name, `nobody answers for ${address}`);
        return owners.every((owner) => isExpected?.(owner) === true)
          ? good(check, name, `${address} is answered for by ${who}, a load balancer of this configuration`)
          : fault(check, name, `${address} is answered for by ${who}`, fix);
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        return warning(check, name, text, 'run doctor on the host as root: asking needs CAP_NET_RAW');
      }
    }),
  );
}
