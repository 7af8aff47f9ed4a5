import type { Table } from '@bgp-lb/daemon';
import { type BfdState, formatPrefix } from '@bgp-lb/protocol';
import {
  type BfdScheduling,
  type BfdSessionStatus,
  type BfdStatus,
  type Peer,
  type PeerStatus,
  schedulingText,
} from '@bgp-lb/protocol/node';
import type { AnnotationStatus } from './annotation/annotation-watch.ts';
import type { OtherMaster } from './bgp/other-masters.ts';
import type { BootstrapStatus } from './bootstrap/bootstrap-watch.ts';
import type { SpeakerConfig } from './config/speaker-config.ts';
import type { DatedGate } from './gate-history.ts';
import type { VipElsewhere } from './kernel/vips-elsewhere.ts';
import type { VipView } from './lifecycle/lifecycle.ts';
import type { Role } from './lifecycle/lifecycle-input.ts';
import type { Advertisement, VipStateName } from './lifecycle/vip-state.ts';

/** The answer of `/api/v1/status`. */
export interface SpeakerStatus {
  readonly role: Role;
  readonly configuredRole: SpeakerConfig['role'];
  readonly asn: number;
  readonly routerId: string;
  readonly nodeAddress: string;
  readonly vips: readonly {
    /** As a prefix, `10.0.0.100/32`. */
    readonly vip: string;
    readonly state: VipStateName;
    readonly reason: string;
    readonly bound: boolean;
    readonly advertisement: Advertisement;
    /** Routers that have it: our Adj-RIB-Out for their Established session holds it. */
    readonly advertisedTo: readonly string[];
    /** Links other than `lo` that have it on this host: somebody else put it there. */
    readonly elsewhere: readonly string[];
  }[];
  readonly gates: readonly DatedGate[];
  /** The other masters in the pools, as the routers reflect them. */
  readonly otherMasters: readonly OtherMaster[];
  readonly routers: readonly (Omit<PeerStatus, 'name' | 'state'> & {
    readonly session: PeerStatus['state'];
    /** The session is protected by a TCP-MD5 password. */
    readonly password: boolean;
    /** `off`: none is configured. */
    readonly bfd: BfdState | 'off';
    /** What the BFD thread knows of it. */
    readonly bfdSession: BfdSessionView | null;
  })[];
  /** The BFD thread; `null` when no router has BFD. */
  readonly bfd: {
    /** `SCHED_FIFO 10`, or what was got instead and why not more. */
    readonly scheduling: string;
    /** Sockets that could not be opened, with the reason. */
    readonly missing: readonly string[];
  } | null;
  /** `null`: it is not followed. */
  readonly drainAnnotation: AnnotationStatus | null;
  readonly kernel: {
    /** Links that the guard watches. */
    readonly uplinks: readonly string[];
    /** What keeps routes to the VIPs from being there, one phrase each; `null` without `routeToVip`. */
    readonly routesMissing: readonly string[] | null;
    /** Why the kernel is not as it should be; `null` when it is. */
    readonly fault: string | null;
    /** Segments that the kernel dropped for their TCP-MD5 signature, of this whole host; `null` without passwords. */
    readonly md5: { readonly notFound: number; readonly unexpected: number; readonly failure: number } | null;
  };
}

/** A BFD session; durations are ms. */
interface BfdSessionView
  extends Pick<
    BfdSessionStatus,
    | 'diagnostic'
    | 'remote'
    | 'multihop'
    | 'transmitInterval'
    | 'detectionTime'
    | 'sendError'
    | 'authentication'
    | 'counters'
  > {
  readonly sinceMs: number;
  /** Since its last packet. */
  readonly silentMs: number | null;
}

export interface StatusSource {
  readonly config: SpeakerConfig;
  readonly routerId: string;
  readonly nodeAddress: string;
  readonly bootstrap: BootstrapStatus;
  readonly gates: readonly DatedGate[];
  readonly vips: readonly VipView[];
  readonly elsewhere: readonly VipElsewhere[];
  readonly peers: readonly Peer[];
  readonly otherMasters: readonly OtherMaster[];
  readonly kernel: SpeakerStatus['kernel'];
  readonly drainAnnotation: AnnotationStatus | undefined;
  readonly bfdState: (router: string) => BfdState | 'off';
  readonly bfdScheduling: BfdScheduling | undefined;
  /** `undefined` without a BFD thread, or when it does not answer. */
  readonly bfd: BfdStatus | undefined;
}

/** Everything that status shows, as plain JSON. */
export function speakerStatus(source: StatusSource): SpeakerStatus {
  const { config, bootstrap, vips, peers, kernel, routerId, nodeAddress } = source;
  return {
    role: bootstrap.role,
    configuredRole: config.role,
    asn: config.asn,
    routerId,
    nodeAddress,
    vips: vips.map(({ vip, state, reason, isBound, advertisement }) => ({
      vip: prefixText(vip.address),
      state,
      reason,
      bound: isBound,
      advertisement,
      advertisedTo: peers
        .filter((peer) => advertisedTo(peer).includes(prefixText(vip.address)))
        .map(({ address }) => address),
      elsewhere: source.elsewhere.filter((one) => one.vip === vip.address).map(({ link }) => link),
    })),
    gates: source.gates,
    otherMasters: source.otherMasters,
    routers: peers.map((peer) => {
      const { name, state, ...rest } = peer.status();
      const password = config.routers.some(
        (router) => router.address === name && router.passwordFile !== undefined,
      );
      return {
        ...rest,
        session: state,
        password,
        bfd: source.bfdState(name),
        bfdSession: bfdSession(source.bfd, name),
      };
    }),
    bfd: bfdThread(source),
    drainAnnotation: source.drainAnnotation ?? null,
    kernel,
  };
}

function bfdSession(status: BfdStatus | undefined, router: string): BfdSessionView | null {
  const session = status?.sessions.find(({ id }) => id === router);
  if (status === undefined || session === undefined) return null;
  const { diagnostic, remote, multihop, transmitInterval, detectionTime, sendError, counters } = session;
  const { since, lastReceivedAt, authentication } = session;
  const { at } = status;
  return {
    sinceMs: Math.round(at - since),
    silentMs: lastReceivedAt === undefined ? null : Math.round(at - lastReceivedAt),
    ...{ diagnostic, remote, multihop, transmitInterval, detectionTime, sendError, authentication, counters },
  };
}

function bfdThread({ config, bfd, bfdScheduling }: StatusSource): SpeakerStatus['bfd'] {
  if (config.routers.every((router) => router.bfd === undefined)) return null;
  return {
    scheduling: bfdScheduling === undefined ? 'not running' : schedulingText(bfdScheduling),
    missing: bfd === undefined ? ['the thread does not answer'] : bfd.receive.missing,
  };
}

/** The prefixes that a router has of us. */
export function advertisedTo(router: Peer): readonly string[] {
  return router.advertised().map(({ prefix }) => formatPrefix(prefix));
}

/** `10.0.0.100/32` or `2001:db8::100/128`. */
export function prefixText(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}

/** The status for people: VIPs, gates, routers. Takes what the API answered, which may be of another version. */
export function statusTables(answer: unknown): readonly Table[] {
  return [
    table(answer, 'vips', ['vip', 'state', 'bound', 'advertisement', 'reason']),
    ...kernelTables(answer),
    table(answer, 'gates', ['name', 'pass', 'detail']),
    table(answer, 'routers', ['address', 'session', 'bfd', 'since', 'asn', 'password', 'last error'], {
      since: (router) => secondsAgo(fieldOf(router, 'sinceMs')),
      asn: (router) => fieldOf(router, 'remoteAsn'),
      'last error': lastError,
    }),
    ...bfdTables(fieldOf(answer, 'bfd')),
    ...annotationTables(fieldOf(answer, 'drainAnnotation')),
    ...otherMasterTables(answer),
  ];
}

/** What of this host's network is not as it should be. */
function kernelTables(answer: unknown): readonly Table[] {
  const vips = fieldOf(answer, 'vips');
  const elsewhere = (Array.isArray(vips) ? vips : []).flatMap((vip) => {
    const links = fieldOf(vip, 'elsewhere');
    return Array.isArray(links) && links.length > 0
      ? [`${cell(fieldOf(vip, 'vip'))} is on ${links.join(', ')}: somebody else put it there`]
      : [];
  });
  const kernel = fieldOf(answer, 'kernel');
  const missing = fieldOf(kernel, 'routesMissing');
  const fault = fieldOf(kernel, 'fault');
  const troubles = [
    ...(typeof fault === 'string' ? [fault] : []),
    ...elsewhere,
    ...(Array.isArray(missing) ? missing.map(String) : []),
  ];
  return troubles.length === 0 ? [] : [{ columns: ['host network'], rows: troubles.map((text) => [text]) }];
}

function otherMasterTables(answer: unknown): readonly Table[] {
  const others = fieldOf(answer, 'otherMasters');
  if (!Array.isArray(others) || others.length === 0) return [];
  return [
    table(answer, 'otherMasters', ['vip', 'other master', 'asks for less', 'routers'], {
      'other master': (one) => fieldOf(one, 'address'),
      'asks for less': (one) => fieldOf(one, 'asksForLess'),
      routers: (one) => String(fieldOf(one, 'routers')),
    }),
  ];
}

function annotationTables(annotation: unknown): readonly Table[] {
  if (typeof annotation !== 'object' || annotation === null) return [];
  const [node, wish, error] = ['node', 'wish', 'error'].map((name) => cell(fieldOf(annotation, name)));
  const last = secondsAgo(fieldOf(annotation, 'succeededMs')) ?? 'never';
  return [
    { columns: ['node', 'drain annotation', 'last heard', 'error'], rows: [[node, wish, last, error]] },
  ];
}

function bfdTables(bfd: unknown): readonly Table[] {
  if (typeof bfd !== 'object' || bfd === null) return [];
  const missing = fieldOf(bfd, 'missing');
  const sockets = Array.isArray(missing) && missing.length > 0 ? missing.join('; ') : 'open';
  return [{ columns: ['bfd thread', 'sockets'], rows: [[cell(fieldOf(bfd, 'scheduling')), sockets]] }];
}

/** Why the last session or attempt ended, in words: one that a router refuses never comes to a session. @param router an entry of `routers` */
export function lastError(router: unknown): unknown {
  const errors = ['lastDown', 'lastNotificationReceived', 'lastNotificationSent']
    .map((name) => fieldOf(router, name))
    .filter((error) => typeof fieldOf(error, 'agoMs') === 'number')
    .sort((a, b) => Number(fieldOf(a, 'agoMs')) - Number(fieldOf(b, 'agoMs')));
  return fieldOf(errors[0], 'text');
}

function table(
  answer: unknown,
  list: string,
  columns: readonly string[],
  derived: Readonly<Record<string, (row: unknown) => unknown>> = {},
): Table {
  const rows = fieldOf(answer, list);
  const value = (row: unknown, column: string): unknown =>
    (derived[column] ?? (() => fieldOf(row, column)))(row);
  return {
    columns: [...columns],
    rows: (Array.isArray(rows) ? rows : []).map((row: unknown) =>
      columns.map((column) => cell(value(row, column))),
    ),
    empty: `no ${list}`,
  };
}

function secondsAgo(milliseconds: unknown): string | undefined {
  return typeof milliseconds === 'number' ? `${(milliseconds / 1000).toFixed(1)} s` : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function cell(value: unknown): string | number | boolean | undefined {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return value === null || value === undefined ? undefined : JSON.stringify(value);
}
