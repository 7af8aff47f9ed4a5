import { checkLiveness, type Finding, fault, lastErrorOf, type SessionErrors } from '@bgp-lb/daemon';
import type { NeighborStatus } from '../api/neighbor-status.ts';

/** What is looked at of a neighbor. */
export type ExaminedNeighbor = Pick<NeighborStatus, 'name' | 'address' | 'state' | 'holdTime' | 'sinceMs'> &
  SessionErrors & {
    readonly bfd: Pick<NonNullable<NeighborStatus['bfd']>, 'state' | 'authentication'> | null;
  };

/** Neighbors whose session is not there, why the last session or attempt ended, and what to do about that cause. Pure. */
export function checkNeighbors(neighbors: readonly ExaminedNeighbor[]): readonly Finding[] {
  return neighbors.map((neighbor) => {
    const { name, address, state, holdTime, sinceMs, bfd } = neighbor;
    if (state === 'Established') {
      const value = `BGP session with ${address} Established`;
      return checkLiveness({
        ...{ check: 'neighbor', place: name, value, holdTime, sinceMs },
        ...{ bfd: bfd?.state ?? 'off', authentication: bfd?.authentication },
      });
    }
    const error = lastErrorOf(neighbor)?.text;
    const value = `BGP session with ${address} ${state}: ${error ?? 'never established'}`;
    return fault('neighbor', name, value, adviceFor(error, address));
  });
}

/** Causes by the words of the last error, the narrowest first. */
const advice: readonly (readonly [cause: RegExp, advice: (address: string) => string])[] = [
  [/ENETUNREACH/, (address) => `there is no route to it: see \`ip route get ${address}\``],
  [/ENETDOWN/, (address) => `the link towards it is down: see \`ip route get ${address}\` and \`ip link\``],
  [
    /EHOSTUNREACH|EHOSTDOWN/,
    (address) =>
      `nothing answers for it on its link: see \`ip neigh show ${address}\`; the host is down, or its cable, VLAN or address`,
  ],
  [
    /ECONNREFUSED/,
    () => 'its host answers and nothing listens there: start its BGP daemon, or compare the port',
  ],
  [
    /EADDRNOTAVAIL|EADDRINUSE|EACCES|EPERM/,
    () => 'this host cannot open the connection: see its addresses and the capabilities of the router',
  ],
  [
    /ETIMEDOUT|no TCP connection in time/,
    () =>
      'nothing answers: a firewall drops TCP 179, the host is down, or the passwords differ, since a wrong TCP-MD5 key is silence',
  ],
  [/Bad Peer AS/, () => 'compare `asn` here with the AS of the neighbor, and the other way round'],
  [/Bad BGP Identifier/, () => 'both sides have the same router id, or one that is none: set `routerId`'],
  [/Unacceptable Hold Time/, () => 'compare the hold times of both sides'],
  [
    /Connection Rejected|Peer De-configured/,
    () => 'the neighbor has no session configured with this address: compare the addresses on both sides',
  ],
  [/Administrative/, () => 'the operator of the neighbor has stopped it there'],
  [/Maximum Number of Prefixes/, () => 'one side announces more than the other takes: compare the limits'],
  [/hold timer|Hold Timer/, () => 'messages stop on their way: see load, MTU and loss between the two'],
];

function adviceFor(error: string | undefined, address: string): string {
  if (error === undefined) {
    return 'no attempt has ended yet: the neighbor has not connected, or a first attempt is under way';
  }
  const known = advice.find(([cause]) => cause.test(error))?.[1];
  return (
    known?.(address) ??
    'compare AS, password, address and TTL security on both sides; a firewall may drop TCP 179'
  );
}
