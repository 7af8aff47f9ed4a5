/** One end of a BGP session in a network namespace: our BgpSpeaker with one neighbor, driven by a test. */
import { EventEmitter, once } from 'node:events';
import {
  asn,
  formatPrefix,
  ipv4Unicast,
  Origin,
  type Path,
  parseIpAddress,
  parsePrefix,
  parseRouterId,
  pathAttributes,
} from '@bgp-lb/protocol';
import { BgpSpeaker, type DownReason, type Peer } from '@bgp-lb/protocol/node';

/** The module's type, for NamespaceProcess. */
export type BgpEnd = typeof import('./bgp-end.ts');

/** Who we are, and who the neighbor is: both in one AS. */
export interface BgpEndSettings {
  readonly local: string;
  readonly remote: string;
  readonly asn: number;
  /** What is announced at first; undefined leaves the application silent: the End-of-RIB waits for it. */
  readonly prefixes?: readonly string[];
  /** What is said of ourselves in the graceful restart capability. */
  readonly restart: { readonly isRestarting: boolean; readonly isForwarding: boolean };
}

/** Seconds that the neighbor waits for our return, and we for its. */
const restartTime = 60;

const told = new EventEmitter();
const downs: DownReason[] = [];
const changes: string[] = [];
let speaker: BgpSpeaker | undefined;
let peer: Peer | undefined;
let nextHop = '';

function thePeer(): Peer {
  if (peer === undefined) throw new Error('the end is not open');
  return peer;
}

/** Opens the session and resolves once it is established. */
export async function open(settings: BgpEndSettings): Promise<void> {
  const { local, remote, restart } = settings;
  nextHop = local;
  speaker = new BgpSpeaker({
    asn: asn(settings.asn),
    routerId: parseRouterId(local),
    handlers: {
      established: () => told.emit('told'),
      down(_peer, reason) {
        downs.push(reason);
        told.emit('told');
      },
      routes(_peer, { announced, withdrawn, refreshed = [] }) {
        changes.push(...announced.map((path) => `announced ${textOf(path)}`));
        changes.push(...refreshed.map((path) => `refreshed ${textOf(path)}`));
        changes.push(...withdrawn.map((path) => `withdrawn ${textOf(path)}`));
        told.emit('told');
      },
    },
  });
  peer = speaker.addPeer({
    name: 'neighbor',
    address: remote,
    remoteAsn: [asn(settings.asn)],
    holdTime: 9,
    connectRetryTime: 1,
    gracefulRestart: {
      restartTime,
      families: restart.isForwarding ? [ipv4Unicast] : [],
      restarting: restart.isRestarting,
    },
    socket: { localAddress: local },
  });
  if (settings.prefixes !== undefined) announce(settings.prefixes);
  await established();
}

/** Announces exactly these. */
export function announce(prefixes: readonly string[]): void {
  const attributes = pathAttributes({
    origin: Origin.Igp,
    asPath: [],
    nextHop: parseIpAddress(nextHop),
    localPref: 100,
  });
  const routes = prefixes.map((text) => ({ prefix: parsePrefix(text), attributes }));
  thePeer().setRoutes(ipv4Unicast, routes);
}

/** Resolves once the session is established. */
export async function established(): Promise<void> {
  while (thePeer().state !== 'Established') await once(told, 'told');
}

/** Waits until the Adj-RIB-In holds exactly these: `10.1.0.0/24`, or `10.1.0.0/24 stale`. */
export async function holds(wanted: readonly string[]): Promise<void> {
  while (paths().join() !== wanted.join()) await once(told, 'told');
}

/** The Adj-RIB-In, in order. */
export function paths(): string[] {
  return thePeer().paths().map(textOf).sort();
}

/** What happened to the Adj-RIB-In so far, in order, and no more from then on. */
export function takeChanges(): string[] {
  return changes.splice(0);
}

/** Forgets the ends of sessions so far. */
export function forgetDowns(): void {
  downs.length = 0;
}

/** Waits for the end of a session and gives the last one. */
export async function wentDown(): Promise<DownReason> {
  for (;;) {
    const last = downs.at(-1);
    if (last !== undefined) return last;
    await once(told, 'told');
  }
}

/** The session's state. */
export function state(): string {
  return thePeer().state;
}

function textOf({ prefix, isStale }: Path): string {
  return `${formatPrefix(prefix)}${isStale ? ' stale' : ''}`;
}
