import { AddressFlag, type InterfaceAddress, type Link, NetlinkError } from '@bgp-lb/linux';
import { expect, it } from 'vitest';
import { globalAddressIn } from './global-address.ts';

const address = (text: string, fields: Partial<InterfaceAddress> = {}): InterfaceAddress => ({
  index: 2,
  address: text,
  prefixLength: 64,
  scope: 'global',
  flags: 0,
  validLifetime: undefined,
  preferredLifetime: undefined,
  ...fields,
});
const host = (addresses: InterfaceAddress[]): Parameters<typeof globalAddressIn>[0] => ({
  links: () => [{ index: 2, name: 'eth1' } as Link],
  addresses: () => addresses,
});

it('is a global IPv6 address of that interface which others may rely on', () => {
  const unsure = [AddressFlag.Tentative, AddressFlag.DadFailed, AddressFlag.Deprecated];
  const there = [
    address('10.0.0.10'),
    address('fe80::10', { scope: 'link' }),
    ...unsure.map((flags, i) => address(`fd00::a${i}`, { flags })),
  ];
  expect(globalAddressIn(host(there), 'eth1')).toBeUndefined();
  expect(globalAddressIn(host([...there, address('fd00::10')]), 'eth1')).toBe('fd00::10');
  const given = [address('fd00::1:2:3:4'), address('fd00::10', { flags: AddressFlag.Permanent })];
  expect(globalAddressIn(host(given), 'eth1')).toBe('fd00::10');
  expect(globalAddressIn(host(given), 'eth2')).toBeUndefined();
});

it('is none where the kernel does not answer', () => {
  const silent = {
    ...host([]),
    links: () => {
      throw new NetlinkError('dump links', 110, undefined, false);
    },
  };
  expect(globalAddressIn(silent, 'eth1')).toBeUndefined();
});
