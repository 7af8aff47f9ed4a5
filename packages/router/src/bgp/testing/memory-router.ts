import { asn, parseRouterId } from '@bgp-lb/protocol';
import type { Clock, PeerEvent, Sockets } from '@bgp-lb/protocol/node';
import { BgpMembership } from '../../membership/bgp-membership.ts';
import type { MembershipEvent } from '../../membership/membership-source.ts';
import { settings } from '../../pool/testing/pool-bench.ts';
import { BgpNeighbors } from '../bgp-neighbors.ts';
import { masters } from './loopback-bgp.ts';

export type { MembershipEvent };

/** The router's sessions and what they make of masters, over sockets and a clock of a test. */
export class MemoryRouter {
  readonly #bgp: BgpNeighbors;
  readonly #membership: BgpMembership;

  constructor(options: {
    readonly address: string;
    /** An IPv4 address. */
    readonly routerId: string;
    /** Masters are any peer that connects from there. */
    readonly range: string;
    readonly vip: string;
    readonly asn: number;
    readonly sockets: Sockets;
    readonly clock: Clock;
    readonly observe: (event: PeerEvent) => void;
  }) {
    const { address, routerId, range, vip, sockets, clock, observe } = options;
    this.#bgp = new BgpNeighbors({
      asn: asn(options.asn),
      routerId: parseRouterId(routerId),
      clusterId: parseRouterId(routerId),
      isUsable: () => true,
      neighbors: [{ ...masters, range, asn: options.asn }],
      listen: { addresses: [address], port: 179 },
      context: { config: { pool: { ...settings, clientEvidence: true } } },
      vips: [vip],
      readPassword: () => '',
      sockets,
      clock,
      observe: (_, event) => observe(event),
      observeRoutes: () => undefined,
      established: () => undefined,
      down: () => undefined,
      onSkippedListener: (skipped, reason) => {
        throw new Error(`${skipped}: ${reason}`);
      },
    });
    this.#membership = new BgpMembership(this.#bgp);
  }

  start(sink: (event: MembershipEvent) => void): Promise<void> {
    return this.#membership.start((events) => events.forEach(sink));
  }

  stop(): Promise<void> {
    return this.#membership.stop();
  }

  /** The states of the sessions with masters. */
  states(): readonly string[] {
    return this.#bgp.peers('master').map(({ peer }) => peer.state);
  }
}
