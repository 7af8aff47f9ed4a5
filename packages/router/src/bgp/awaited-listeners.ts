import { networkInterfaces } from 'node:os';
import { formatIpAddress, parseIpAddress, withoutZone } from '@bgp-lb/protocol';

/** Addresses to listen on that this host does not have now, each in a sentence. Neighbors are heard there as soon as it has them. */
export function awaitedListeners(
  addresses: readonly string[],
  own: readonly string[] = ownAddresses(),
): readonly string[] {
  const present = new Set(own.map(canonical));
  return addresses
    .filter((address) => !isWildcard(address) && !present.has(canonical(address)) && !isLoopback(address))
    .map(
      (address) =>
        `listen.addresses: no interface has ${address} yet; neighbors are heard there once one has`,
    );
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}

function canonical(address: string): string {
  return formatIpAddress(parseIpAddress(withoutZone(address)));
}

function isWildcard(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}

/** All of 127.0.0.0/8 is this host's. */
function isLoopback(address: string): boolean {
  return address.startsWith('127.');
}
