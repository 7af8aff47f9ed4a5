import type {
  BfdAuthenticationConfig,
  Community,
  OptionalCapability,
  PartialBfdTiming,
} from '@bgp-lb/daemon';

/** A virtual address of the control plane. */
export interface VipConfig {
  /** Canonical text. */
  readonly address: string;
  /** The port that clients use. */
  readonly port: number;
  /** The API server's port on this machine. */
  readonly machinePort: number;
  /** LOCAL_PREF of a path in full service; default 100. */
  readonly localPref?: number | undefined;
  /** MULTI_EXIT_DISC; default none. */
  readonly med?: number | undefined;
  /** Beside those that say what the path is. */
  readonly communities?: readonly Community[] | undefined;
}

/** BFD with a router. Intervals are milliseconds; those left out are `bfdTiming`'s. */
interface BfdConfig extends BfdAuthenticationConfig, PartialBfdTiming {
  /** BGP waits until BFD is Up. */
  readonly strict: boolean;
  /** RFC 5883. Default: where GTSM expects more than one hop. */
  readonly multihop?: boolean | undefined;
}

/** A router (load balancer) that the VIPs are advertised to. */
export interface RouterPeerConfig {
  readonly address: string;
  readonly port: number;
  readonly asn: number;
  readonly passwordFile?: string | undefined;
  readonly nextPasswordFile?: string | undefined;
  /** Our end of the session. */
  readonly sourceAddress?: string | undefined;
  /** Milliseconds. */
  readonly holdTime: number;
  /** 0: no TTL security. */
  readonly ttlSecurityHops: number;
  /** Paths with an AS_SET are taken. Default: false. */
  readonly acceptAsSet?: boolean;
  /** Left out of the OPEN. */
  readonly withoutCapabilities?: readonly OptionalCapability[];
  readonly bfd: BfdConfig | false;
}

/** The speaker's configuration: the file with all defaults filled in. Durations are milliseconds. */
export interface SpeakerConfig {
  readonly role: 'init' | 'join' | 'cluster-api';
  readonly asn: number;
  readonly routerId?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly vips: readonly VipConfig[];
  readonly routers: readonly RouterPeerConfig[];
  /** This master has the VIPs on itself while it serves; otherwise a load balancer connects to its own address. */
  readonly vipBind: boolean;
  /** This host needs routes to the VIPs by the routers. */
  readonly routeToVip: boolean;
  readonly apiServer: {
    readonly address?: string | undefined;
    readonly serverName: string;
    readonly caFile: string;
    readonly path: string;
    readonly interval: number;
    readonly timeout: number;
    readonly rise: number;
    readonly fall: number;
    readonly unauthenticated: 'reject' | 'accept';
    readonly clientCertificate?: { readonly certFile: string; readonly keyFile: string } | undefined;
  };
  readonly bootstrap: {
    readonly markers: readonly string[];
    readonly stateDir: string;
    readonly machineIdFile: string;
  };
  readonly drain: {
    readonly timeout: number;
    readonly file: string;
    readonly annotation?: { readonly kubeconfig: string; readonly node: string } | undefined;
  };
  readonly stopMode: 'keep' | 'drain';
  readonly api: {
    readonly socket: string;
    readonly listen: { readonly host: string; readonly port: number };
  };
  readonly log: { readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' };
}

/** `apiVersion` of the file. */
export const API_VERSION = 'bgp-lb.dev/v1alpha1';
/** `kind` of the file. */
export const KIND = 'Speaker';
