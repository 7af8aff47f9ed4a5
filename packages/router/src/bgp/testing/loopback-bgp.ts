import { createServer } from 'node:net';
import {
  asn,
  ipv4Unicast,
  Origin,
  type Path,
  parseIpAddress,
  parsePrefix,
  parseRouterId,
  pathAttributes,
  type Route,
  WellKnownCommunity,
} from '@bgp-lb/protocol';
import { BgpSpeaker, type PeerEvent, systemClock } from '@bgp-lb/protocol/node';
import type { MasterNeighborConfig, NeighborConfig } from '../../config/router-config.ts';
import { settings } from '../../pool/testing/pool-bench.ts';
import { BgpNeighbors } from '../bgp-neighbors.ts';
import { mappedSockets } from './mapped-sockets.ts';

/** Our AS in these tests. */
export const LOCAL_AS: number = 64512;
/** On the wire 127.0.0.1, the source that the kernel takes for connections to loopback. */
export const ROUTER_ADDRESS: string = '10.0.0.1';

/** A TCP port of loopback that nothing uses. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) {
    throw new Error('no port');
  }
  return address.port;
}

/** The router's side of BGP on loopback, without MD5 and GTSM, which are the sockets' business. */
export function routerNeighbors(
  port: number,
  neighbors: readonly NeighborConfig[],
  observe: (event: PeerEvent) => void = () => undefined,
  isUsable: (path: Path) => boolean = () => true,
): BgpNeighbors {
  return new BgpNeighbors({
    asn: asn(LOCAL_AS),
    routerId: parseRouterId('10.0.0.10'),
    clusterId: parseRouterId('10.0.0.10'),
    isUsable,
    neighbors,
    listen: { addresses: [ROUTER_ADDRESS], port },
    context: { config: { pool: { ...settings, clientEvidence: true } } },
    vips: ['10.100.0.1'],
    readPassword: () => '',
    sockets: mappedSockets,
    clock: systemClock,
    observe: (_, event) => observe(event),
    observeRoutes: () => undefined,
    established: () => undefined,
    down: () => undefined,
    onSkippedListener: () => undefined,
  });
}

/** Masters are any peer that connects from 10.0.0.0/24. */
export const masters: MasterNeighborConfig = {
  role: 'master',
  name: 'masters',
  range: '10.0.0.0/24',
  asn: LOCAL_AS,
  ttlSecurityHops: 0,
  holdTime: 9000,
  maxSessions: 4,
  memberAddress: 'peer',
  maxPrefixes: 3,
  maxPrefixesRestart: 'never',
  bfd: false,
  addPath: true,
  acceptAsSet: false,
  withoutCapabilities: [],
};

/** A master's side: a speaker of our AS that connects from its own address. */
export class LoopbackMaster {
  readonly address: string;
  readonly #speaker: BgpSpeaker;
  readonly #routes = new Map<string, Route>();
  readonly #established: Promise<void>;

  /** @param prefixes are announced from the first moment, before End-of-RIB */
  constructor(address: string, port: number, prefixes: readonly string[] = []) {
    this.address = address;
    let established: () => void = () => undefined;
    this.#established = new Promise((resolve) => {
      established = resolve;
    });
    this.#speaker = new BgpSpeaker({
      asn: asn(LOCAL_AS),
      routerId: parseRouterId(`10.0.0.${address.split('.')[3]}`),
      sockets: mappedSockets,
      handlers: { established: () => established() },
    });
    this.#speaker.addPeer({
      name: 'router',
      address: ROUTER_ADDRESS,
      port,
      remoteAsn: [asn(LOCAL_AS)],
      holdTime: 9,
      connectRetryTime: 1,
      socket: { localAddress: address },
    });
    for (const prefix of prefixes) {
      this.announce(prefix);
    }
  }

  established(): Promise<void> {
    return this.#established;
  }

  announce(
    prefix: string,
    fields: { nextHop?: string; intent?: 'active' | 'last-resort' | 'draining' } = {},
  ): void {
    const { nextHop = this.address, intent = 'active' } = fields;
    const less = {
      localPref: 0,
      communities: [WellKnownCommunity.GracefulShutdown],
      largeCommunities: [
        { globalAdministrator: LOCAL_AS, localData1: 2, localData2: intent === 'draining' ? 1 : 2 },
      ],
    };
    const attributes = pathAttributes({
      origin: Origin.Igp,
      asPath: [],
      nextHop: parseIpAddress(nextHop),
      localPref: 100,
      ...(intent === 'active' ? {} : less),
    });
    this.#routes.set(prefix, { prefix: parsePrefix(prefix), attributes });
    this.#send();
  }

  withdraw(prefix: string): void {
    this.#routes.delete(prefix);
    this.#send();
  }

  /** TCP is closed without NOTIFICATION, as the kernel does for a process that was killed. */
  async die(): Promise<void> {
    await this.#speaker.close({ keepForwarding: true });
  }

  /** Cease/Administrative Shutdown. */
  async leave(): Promise<void> {
    await this.#speaker.close({ text: 'for a test' });
  }

  /** It takes us for dead: Cease/BFD Down, and it connects again. */
  bfdDown(): void {
    this.#speaker.peer('router')?.bfdDown();
  }

  #send(): void {
    this.#speaker.peer('router')?.setRoutes(ipv4Unicast, [...this.#routes.values()]);
  }
}
