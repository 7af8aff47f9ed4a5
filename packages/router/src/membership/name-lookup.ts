import { promises as dns } from 'node:dns';
import { isIPv6 } from 'node:net';
import { canonicalAddress } from '@bgp-lb/daemon';

/** The addresses of a name, and for how long they hold. */
export interface NameAnswer {
  /** Canonical text, in order. */
  readonly addresses: readonly string[];
  /** Seconds; `undefined` where the answer does not say. */
  readonly ttl: number | undefined;
}

/** Looks a name up. Rejects when there is no address of the family. */
export type NameLookup = (name: string, family: 4 | 6) => Promise<NameAnswer>;

/** Milliseconds for one server of DNS, and how often each is asked. */
const PATIENCE = { timeout: 2_000, tries: 2 } as const;
/** Addresses of one name. */
const MOST_ADDRESSES = 16;

/**
 * By DNS, for its TTL; what DNS does not have, or does not answer, by getaddrinfo(3), which knows /etc/hosts and search domains, and
 * no TTL.
 */
export function nameLookup(): NameLookup {
  // getaddrinfo blocks a thread of the few that the process has: one at a time.
  let last: Promise<unknown> = Promise.resolve();
  return async (name, family) => {
    try {
      // Made for each question: /etc/resolv.conf may be another one by now.
      const resolver = new dns.Resolver(PATIENCE);
      const records =
        family === 6
          ? await resolver.resolve6(name, { ttl: true })
          : await resolver.resolve4(name, { ttl: true });
      const answer = answerOf(
        records.map(({ address }) => address),
        family,
      );
      if (answer.length > 0) return { addresses: answer, ttl: Math.min(...records.map(({ ttl }) => ttl)) };
    } catch {
      // The answer of getaddrinfo is the one that is shown.
    }
    const next = last.then(() => dns.lookup(name, { family, all: true }));
    last = next.catch(() => undefined);
    const addresses = answerOf(
      (await next).map(({ address }) => address),
      family,
    );
    if (addresses.length === 0) throw new Error(`${name} has no IPv${family} address that a member may have`);
    return { addresses, ttl: undefined };
  };
}

/** Usable ones, each once. */
function answerOf(texts: readonly string[], family: 4 | 6): string[] {
  const addresses = texts.flatMap((text) => {
    try {
      const address = canonicalAddress(text);
      return isIPv6(address) === (family === 6) && isUsable(address) ? [address] : [];
    } catch {
      return [];
    }
  });
  return [...new Set(addresses)].sort().slice(0, MOST_ADDRESSES);
}

/** A DNS server may say anything: neither this host itself nor a group is a member. */
function isUsable(address: string): boolean {
  return !/^(0|127|22[4-9]|23\d|24\d|25[0-5])\./.test(address) && !/^(::1?$|ff)/.test(address);
}
