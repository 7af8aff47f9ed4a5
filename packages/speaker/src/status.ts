import type { Finding } from '@bgp-lb/daemon';
import { type BfdState, formatPrefix, hostPrefix } from '@bgp-lb/protocol';
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
    /** Links other than `lo` that have it on this host: another program put it there. */
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
    /** What keeps answers from clients, or may: `doctor` has the same. */
    readonly wayBack: readonly Finding[];
    /** What rp_filter has dropped of late; `null` before it was read twice. */
    readonly reversePathDrops: { readonly packets: number; readonly ms: number } | null;
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
  if (config.routers.every((router) => router.bfd === false)) return null;
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
  return hostPrefix(address);
}
