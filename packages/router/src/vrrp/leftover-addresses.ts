import type { AddressKey, InterfaceAddress } from '@bgp-lb/linux';
import { tokensOf } from './keepalived-config.ts';
import type { VirtualRouterSettings } from './virtual-router-settings.ts';

/** A link, as far as it is looked at. */
interface NamedLink {
  readonly index: number;
  readonly name: string;
  readonly isLoopback: boolean;
}

/** What keepalived puts on interfaces, as far as it is there. Pure. */
export function ownedAddresses(
  settings: VirtualRouterSettings,
  links: readonly NamedLink[],
  addresses: readonly InterfaceAddress[],
): { readonly owned: readonly AddressKey[]; readonly beacon: readonly AddressKey[] } {
  const { owner, beacon } = tokensOf(settings);
  const loopback = links.find(({ isLoopback }) => isLoopback)?.index;
  const own = links.find(({ name }) => name === settings.interface)?.index;
  const find = (index: number | undefined, wanted: readonly string[]): AddressKey[] =>
    addresses
      .filter(
        (one) =>
          one.index === index &&
          wanted.includes(one.address) &&
          one.prefixLength === (one.address.includes(':') ? 128 : 32),
      )
      .map((one) => ({ index: one.index, address: one.address, prefixLength: one.prefixLength }));
  return {
    owned: settings.owned === 'token' ? find(loopback, [owner]) : find(own, settings.vips),
    beacon: find(loopback, [beacon]),
  };
}
