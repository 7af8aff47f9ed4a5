import { type CrossFieldFault, linkLocalDistanceFaults } from '@bgp-lb/daemon';
import { withoutZone, zoneOf } from '@bgp-lb/protocol';
import type { RouterPeerConfig, SpeakerConfig } from './speaker-config.ts';

/** What follows for a router from an address that is good on one link only (RFC 4007 section 6). */
export function linkLocalFaults({ routers, apiServer }: SpeakerConfig): CrossFieldFault[] {
  const faults = routers.flatMap((router, index) => [
    ...sourceFaults(router, index),
    ...(zoneOf(router.address) === undefined ? [] : linkLocalDistanceFaults(['routers', index], router)),
    ...passwordFaults(router, index, routers),
  ]);
  const hasGlobal = routers.some(({ address }) => zoneOf(address) === undefined);
  if (hasGlobal || apiServer.address !== undefined) return faults;
  return [
    ...faults,
    {
      path: ['apiServer', 'address'],
      message:
        'is not set, and all routers are link-local: no certificate has our source address towards them',
      value: undefined,
      allowed: 'the address of this node that the serving certificate has',
    },
  ];
}

/** RFC 4007 section 6: an address of one link is the source of no packet on another. */
function sourceFaults({ address, sourceAddress }: RouterPeerConfig, index: number): CrossFieldFault[] {
  if (sourceAddress === undefined) return [];
  const [zone, own] = [zoneOf(address), zoneOf(sourceAddress)];
  if (zone === own) return [];
  return [
    {
      path: ['routers', index, 'sourceAddress'],
      message: `cannot be with the address ${address}`,
      value: sourceAddress,
      allowed: zone === undefined ? 'a global address' : `a link-local address on ${zone}`,
    },
  ];
}

/** One address on two links is two routers, but one TCP-MD5 key of the kernel for those who connect. */
function passwordFaults(
  { address, passwordFile }: RouterPeerConfig,
  index: number,
  routers: readonly RouterPeerConfig[],
): CrossFieldFault[] {
  const twin = routers
    .slice(0, index)
    .find(
      (other) => withoutZone(other.address) === withoutZone(address) && other.passwordFile !== passwordFile,
    );
  if (twin === undefined) return [];
  return [
    {
      path: ['routers', index, 'address'],
      message: `is that of ${twin.address} on another link, with another password`,
      value: address,
      allowed: 'one passwordFile for both, or none',
    },
  ];
}
