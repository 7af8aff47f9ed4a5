import {
  bfdAuthenticationFault,
  type CrossFieldFault,
  formatCommunity,
  isWellKnownCommunity,
} from '@bgp-lb/daemon';
import { isSameVersion, parseIpAddress, parsePrefix, prefixContains, withoutZone } from '@bgp-lb/protocol';
import { capabilityFaults } from './capability-faults.ts';
import { dataPlaneFaults } from './data-plane-faults.ts';
import { familyFaults, upstreamFamilyFaults } from './family-faults.ts';
import { linkLocalFaults } from './link-local-faults.ts';
import { memberFaults } from './member-faults.ts';
import { repeated } from './repeated.ts';
import type { NeighborConfig, RouterConfig } from './router-config.ts';
import { unusableValues } from './unusable-values.ts';
import { vrrpFaults } from './vrrp-faults.ts';

/** The rules that concern more than one key. Pure; every fault is found, not only the first. */
export function crossFieldFaults(config: RouterConfig): readonly CrossFieldFault[] {
  return [
    ...duplicates(config),
    ...membersWithoutPlace(config),
    ...vipConflicts(config),
    ...rangeConflicts(config),
    ...familyFaults(config),
    ...memberFaults(config),
    ...upstreamFamilyFaults(config),
    ...passedCommunityFaults(config),
    ...asFaults(config),
    ...memberAddressFaults(config),
    ...bfdFaults(config),
    ...passwordFaults(config),
    ...dataPlaneFaults(config),
    ...linkLocalFaults(config),
    ...capabilityFaults(config),
    ...vrrpFaults(config),
    ...unusableValues(config),
  ];
}

type Path = readonly (string | number)[];

function duplicates({ vips, neighbors, listen }: RouterConfig): CrossFieldFault[] {
  return [
    ...repeated(
      vips.map(({ address }) => address),
      (i) => ['vips', i, 'address'],
      'each VIP once',
    ),
    ...repeated(
      neighbors.map(({ name }) => name),
      (i) => ['neighbors', i, 'name'],
      'a name of its own for each neighbor',
    ),
    ...repeated(
      neighbors.map(({ address }) => address),
      (i) => ['neighbors', i, 'address'],
      'each neighbor once',
    ),
    ...repeated(listen.addresses, (i) => ['listen', 'addresses', i], 'each address once'),
  ];
}

function membersWithoutPlace({ neighbors, listen }: RouterConfig): CrossFieldFault[] {
  return neighbors.flatMap((neighbor, i): CrossFieldFault[] => {
    const waits = neighbor.role === 'master' || neighbor.passive;
    if (waits && listen.addresses.length === 0) {
      const message = 'waits for its connection, and nothing is listened on';
      return [
        { path: ['neighbors', i], message, value: neighbor.name, allowed: 'an address in listen.addresses' },
      ];
    }
    if (neighbor.role !== 'master') {
      return [];
    }
    const { range, address } = neighbor;
    if ((range === undefined) === (address === undefined)) {
      const message = range === undefined ? 'has neither range nor address' : 'has both range and address';
      return [{ path: ['neighbors', i], message, value: neighbor.name, allowed: 'one of range and address' }];
    }
    return [];
  });
}

function vipConflicts({ vips, neighbors, listen, routerId }: RouterConfig): CrossFieldFault[] {
  const isVip = (address: string | undefined): boolean => vips.some((vip) => vip.address === address);
  const fault = (path: Path, value: unknown): CrossFieldFault => ({
    path,
    message: 'is a VIP',
    value,
    allowed: 'an address of one machine: the VIP is on all masters',
  });
  return [
    ...neighbors.flatMap(({ address }, i) =>
      isVip(address) ? [fault(['neighbors', i, 'address'], address)] : [],
    ),
    ...listen.addresses.flatMap((address, i) =>
      isVip(address) ? [fault(['listen', 'addresses', i], address)] : [],
    ),
    ...(isVip(routerId) ? [fault(['routerId'], routerId)] : []),
  ];
}

function rangeConflicts({ neighbors }: RouterConfig): CrossFieldFault[] {
  return neighbors.flatMap((neighbor, i) => {
    const range = rangeOf(neighbor);
    if (range === undefined) {
      return [];
    }
    const other = neighbors.slice(0, i).find((before) => {
      const earlier = rangeOf(before);
      return earlier !== undefined && overlaps(earlier, range);
    });
    return other === undefined
      ? []
      : [
          {
            path: ['neighbors', i, 'range'],
            message: `overlaps the range of ${other.name} (${rangeOf(other)})`,
            value: range,
            allowed: 'ranges of which each address is in one only',
          },
        ];
  });
}

function rangeOf(neighbor: NeighborConfig): string | undefined {
  return neighbor.role === 'master' ? neighbor.range : undefined;
}

function overlaps(a: string, b: string): boolean {
  return (
    prefixContains(parsePrefix(a), parseIpAddress(b.split('/')[0] ?? '')) ||
    prefixContains(parsePrefix(b), parseIpAddress(a.split('/')[0] ?? ''))
  );
}

function passedCommunityFaults({ neighbors }: RouterConfig): CrossFieldFault[] {
  return neighbors.flatMap((neighbor, i): CrossFieldFault[] => {
    if (neighbor.role !== 'upstream' || neighbor.passCommunities.length === 0) return [];
    const path = ['neighbors', i, 'passCommunities'];
    if (neighbor.nextHop === 'self') {
      const message = 'has no effect with nextHop self, which passes on no path of a master';
      return [{ path, message, value: neighbor.passCommunities.length, allowed: 'nextHop unchanged' }];
    }
    return neighbor.passCommunities.flatMap((one, k): CrossFieldFault[] => {
      if (typeof one !== 'number' || !isWellKnownCommunity(one)) return [];
      const message =
        'is well-known: a master that says it would have it obeyed by every router behind the upstream';
      return [{ path: [...path, k], message, value: formatCommunity(one), allowed: 'any but 65535:*' }];
    });
  });
}

function asFaults({ asn, neighbors }: RouterConfig): CrossFieldFault[] {
  return neighbors.flatMap((neighbor, i) =>
    neighbor.role === 'internal' && neighbor.asn !== asn
      ? [
          {
            path: ['neighbors', i, 'asn'],
            message: 'is not our own AS',
            value: neighbor.asn,
            allowed: `${asn} for an internal router, or the role upstream`,
          },
        ]
      : [],
  );
}

/** The kernel looks a TCP-MD5 key up by prefix: who is inside a range with a password and has none is never heard. */
function passwordFaults({ neighbors }: RouterConfig): CrossFieldFault[] {
  return neighbors.flatMap((neighbor, i) => {
    const { address, passwordFile } = neighbor;
    const isWaitedFor = neighbor.role === 'master' || neighbor.passive;
    if (address === undefined || passwordFile !== undefined || !isWaitedFor) {
      return [];
    }
    const around = neighbors.find((other) => {
      const range = rangeOf(other);
      return (
        other.passwordFile !== undefined &&
        range !== undefined &&
        prefixContains(parsePrefix(range), parseIpAddress(withoutZone(address)))
      );
    });
    return around === undefined
      ? []
      : [
          {
            path: ['neighbors', i, 'address'],
            message: `lies in the range of ${around.name}, which has a password: what it sends without one is dropped`,
            value: address,
            allowed: 'a passwordFile of its own, or passive: false where we can connect to it',
          },
        ];
  });
}

function memberAddressFaults({ vips, neighbors }: RouterConfig): CrossFieldFault[] {
  const places = neighbors.map((neighbor) =>
    neighbor.role !== 'master'
      ? undefined
      : neighbor.memberAddress === 'peer'
        ? neighbor.address
        : neighbor.memberAddress,
  );
  return neighbors.flatMap((neighbor, i): CrossFieldFault[] => {
    if (neighbor.role !== 'master' || neighbor.memberAddress === 'peer') {
      return [];
    }
    const { memberAddress: value, address } = neighbor;
    const path = ['neighbors', i, 'memberAddress'];
    if (address === undefined) {
      const allowed = 'peer, or a neighbor with an address';
      return [{ path, message: 'cannot be had with a range: it is one address', value, allowed }];
    }
    if (!isSameVersion(address, value)) {
      const allowed = `an address of the family of ${address}`;
      return [{ path, message: 'is of another address family than the session', value, allowed }];
    }
    if (vips.some((vip) => vip.address === value)) {
      return [{ path, message: 'is a VIP', value, allowed: 'an address of this master alone' }];
    }
    const isTaken = places.some((place, other) => other !== i && place === value);
    return isTaken
      ? [{ path, message: 'is the address of another master', value, allowed: 'one of this master alone' }]
      : [];
  });
}

function bfdFaults({ neighbors }: RouterConfig): CrossFieldFault[] {
  return neighbors.flatMap((neighbor, i): CrossFieldFault[] => {
    const { bfd, ttlSecurityHops } = neighbor;
    if (bfd === false) {
      return [];
    }
    const faults: CrossFieldFault[] = [];
    const unauthentic = bfdAuthenticationFault(bfd, neighbor.passwordFile);
    if (unauthentic !== undefined) {
      faults.push({
        path: ['neighbors', i, 'bfd', 'authentication'],
        message: unauthentic,
        value: bfd.authentication,
        allowed: 'auto, none, or a passwordFile beside it',
      });
    }
    if (bfd.strict && neighbor.address === undefined) {
      faults.push({
        path: ['neighbors', i, 'bfd', 'strict'],
        message: 'cannot be had with a range: whoever connects is not known before',
        value: true,
        allowed: 'false, or a neighbor with an address',
      });
    }
    if (bfd.strict && neighbor.role === 'internal') {
      faults.push({
        path: ['neighbors', i, 'bfd', 'strict'],
        message: 'is not for internal routers: nothing is forwarded to them',
        value: true,
        allowed: 'false',
      });
    }
    if (bfd.multihop === false && ttlSecurityHops > 1) {
      faults.push({
        path: ['neighbors', i, 'bfd', 'multihop'],
        message: `contradicts ttlSecurityHops ${ttlSecurityHops}: one that is not on link cannot send with TTL 255`,
        value: false,
        allowed: 'true, or ttlSecurityHops 0 or 1',
      });
    }
    return faults;
  });
}
