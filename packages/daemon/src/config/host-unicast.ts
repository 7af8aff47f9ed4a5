import { isIPv4 } from 'node:net';
import { Address4, Address6 } from 'ip-address';

/** `host`: other hosts send packets to it. `listener`: a socket of this host is bound to it. */
export type AddressUse = 'host' | 'listener';

interface Block {
  readonly prefix: string;
  readonly is: string;
  /** A socket may be bound to it. */
  readonly isBindable?: boolean;
}

/** Addresses that no host has as its own towards others: the registries of RFC 6890. */
const BLOCKS: readonly Block[] = [
  { prefix: '0.0.0.0/32', is: 'is the unspecified address', isBindable: true },
  { prefix: '0.0.0.0/8', is: 'is in 0.0.0.0/8, of which hosts have no address' },
  { prefix: '127.0.0.0/8', is: 'is a loopback address', isBindable: true },
  { prefix: '224.0.0.0/4', is: 'is a multicast address' },
  { prefix: '255.255.255.255/32', is: 'is the broadcast address' },
  { prefix: '240.0.0.0/4', is: 'is in 240.0.0.0/4, which is reserved' },
  { prefix: '::/128', is: 'is the unspecified address', isBindable: true },
  { prefix: '::1/128', is: 'is the loopback address', isBindable: true },
  { prefix: 'ff00::/8', is: 'is a multicast address' },
];

/** Links have these, and a range of them would take every host on any link. */
const LINK_LOCAL: Block = { prefix: 'fe80::/10', is: 'is link-local' };

/** Why an address in canonical text cannot be what it is to be; `undefined` when it can. */
export function addressFault(address: string, use: AddressUse): string | undefined {
  const block = BLOCKS.find(({ prefix }) => isWithin(address, prefix));
  if (block === undefined || (use === 'listener' && block.isBindable === true)) return undefined;
  return block.is;
}

/** Why not every address of a prefix in canonical text is a host's; `undefined` when each may be. */
export function rangeFault(range: string): string | undefined {
  const block = [...BLOCKS, LINK_LOCAL].find(
    ({ prefix }) => isWithin(range, prefix) || isWithin(prefix, range),
  );
  if (block === undefined) return undefined;
  return isWithin(range, block.prefix)
    ? `lies in ${block.prefix}, of which hosts have no address`
    : `contains ${block.prefix}, of which hosts have no address`;
}

function isWithin(inner: string, outer: string): boolean {
  const isOld = isIPv4(inner.split('/')[0] ?? '');
  if (isOld !== isIPv4(outer.split('/')[0] ?? '')) return false;
  return isOld
    ? new Address4(inner).isInSubnet(new Address4(outer))
    : new Address6(inner).isInSubnet(new Address6(outer));
}
