import { BfdThread, threadClock } from '@bgp-lb/protocol/node';
import type { BgpNeighbors } from '../bgp/bgp-neighbors.ts';
import { canonicalText } from '../bgp/neighbor-options.ts';
import type { UpstreamAdvertiser } from '../bgp/upstream-advertiser.ts';
import type { HostLiveness } from '../membership/membership-source.ts';
import type { RouterObserver } from '../observe/router-observer.ts';
import { NeighborBfd } from './neighbor-bfd.ts';
import type { StallWatch } from './stall-watch.ts';

export interface ConnectBfdOptions {
  /** What the thread runs. */
  readonly program: URL;
  readonly bgp: BgpNeighbors;
  readonly membership: HostLiveness;
  readonly advertiser: UpstreamAdvertiser;
  readonly stalls: StallWatch;
  readonly observer: RouterObserver;
}

/** BFD with the neighbors of BGP; what it finds goes to the owner of the neighbor's role. */
export function connectBfd(options: ConnectBfdOptions): NeighborBfd {
  const { program, bgp, membership, advertiser, stalls, observer } = options;
  const peersAt = (addresses: readonly string[]) =>
    bgp.peers().filter(({ peer }) => addresses.includes(canonicalText(peer.address)));
  return new NeighborBfd({
    neighbors: bgp.neighbors,
    passwordOf: (name) => bgp.passwordOf(name),
    agreedKey: (address) => peersAt([address]).flatMap(({ peer }) => bgp.bfdKeyOf(peer) ?? [])[0],
    start: (handlers) => new BfdThread({ entry: program, handlers }),
    isEstablished: (address) => peersAt([address]).some(({ peer }) => peer.state === 'Established'),
    dead: (deaths) => {
      membership.hostsDead(deaths);
      for (const { peer, neighbor } of peersAt(deaths.addresses)) {
        if (neighbor.role !== 'master') {
          peer.bfdDown();
        }
      }
    },
    required: (address, { role }, isUp) =>
      role === 'master' ? membership.bfdRequired(address, isUp) : advertiser.setBfdUp(address, isUp),
    changed: (change, { name, role }, failure) =>
      observer.bfd({ peer: change.id, neighbor: name, role }, change, failure),
    scheduled: (scheduling) => observer.bfdScheduled(scheduling),
    problem: (text) => observer.problem(text),
    lateness: () => stalls.lateness,
    missedWithin: (detectionTime) => stalls.watch(detectionTime),
    afterReading: setImmediate,
    now: threadClock.now,
  });
}
