import type {
  BfdAuthenticationConfig,
  Community,
  OptionalCapability,
  PartialBfdTiming,
} from '@bgp-lb/daemon';

/** A virtual address. */
interface VipConfig {
  /** Canonical text. */
  readonly address: string;
  /** The port that clients use. */
  readonly port: number;
  /** The API server's port on the masters. The mapping is made there. */
  readonly machinePort: number;
  readonly members: MembersConfig;
}

/** A member of a list in the configuration. */
export interface StaticMemberConfig {
  readonly name?: string | undefined;
  /** Canonical text of an address, or a host name. */
  readonly address: string;
  readonly zone?: string | undefined;
}

/** Where the members of a VIP come from. */
export interface MembersConfig {
  /** The masters announce it. */
  readonly bgp: boolean;
  readonly static: readonly StaticMemberConfig[];
  readonly configMap?: { readonly namespace: string; readonly name: string } | undefined;
}

/** How the Kubernetes API is reached: by a kubeconfig, or a CA, a token and servers. */
export interface KubernetesConfig {
  readonly kubeconfig?: string | undefined;
  readonly caFile?: string | undefined;
  readonly tokenFile?: string | undefined;
  /** URLs. */
  readonly servers: readonly string[];
}

/** BFD with a neighbor. Intervals are milliseconds; those left out are `bfdTiming`'s. */
interface BfdConfig extends BfdAuthenticationConfig, PartialBfdTiming {
  /** Nothing is done with the neighbor until BFD is Up. */
  readonly strict: boolean;
  readonly multihop?: boolean | undefined;
}

/** What all kinds of neighbors have. */
interface NeighborBase {
  readonly name: string;
  readonly asn: number | readonly number[] | 'external';
  readonly passwordFile?: string | undefined;
  /** 0: no TTL security. */
  readonly ttlSecurityHops: number;
  /** Milliseconds. */
  readonly holdTime: number;
  readonly bfd: BfdConfig | false;
  /** Paths with an AS_SET are taken. */
  readonly acceptAsSet?: boolean;
  /** Path identifiers are offered (RFC 7911). */
  readonly addPath: boolean;
  /** Left out of the OPEN. */
  readonly withoutCapabilities?: readonly OptionalCapability[];
}

/** The masters, by a range or one by one: the VIPs are imported from them. */
export interface MasterNeighborConfig extends NeighborBase {
  readonly role: 'master';
  readonly range?: string | undefined;
  readonly address?: string | undefined;
  /** Where packets for it go: to the session's peer, or to an address in canonical text. */
  readonly memberAddress: string;
  readonly maxSessions: number;
  /** Prefixes that it may announce, wanted or not. */
  readonly maxPrefixes: number;
  /** Milliseconds that it is left alone when it announces more. */
  readonly maxPrefixesRestart: number | 'never';
}

/** What an upstream is told of a VIP while its pool has fewer members than it should. */
interface DegradedConfig {
  /** Members in the pool. */
  readonly below: number;
  readonly prepend: number;
  readonly med?: number | undefined;
}

/** An upstream router: the VIPs are advertised to it. */
export interface UpstreamNeighborConfig extends NeighborBase {
  readonly role: 'upstream';
  readonly address: string;
  readonly port: number;
  readonly passive: boolean;
  /** `self`: this host; `unchanged`: each member of the pool. */
  readonly nextHop: 'self' | 'unchanged';
  /** Of this host, in the family that `address` is not of: VIPs of that family are announced too, with this next hop. */
  readonly otherNextHop?: string | undefined;
  readonly med?: number | undefined;
  /** How often our AS number is there more than once. */
  readonly prepend: number;
  readonly communities: readonly Community[];
  /** What paths of masters may keep with `nextHop: unchanged`. */
  readonly passCommunities: readonly Community[];
  readonly degraded?: DegradedConfig | undefined;
  readonly gracefulRestart?: boolean | undefined;
}

/** A router of our AS that is told of the members, and tells of those that it knows: RFC 4456. */
interface InternalNeighborConfig extends NeighborBase {
  readonly role: 'internal';
  readonly address: string;
  readonly port: number;
  readonly passive: boolean;
  /** A client of our reflector. */
  readonly client: boolean;
}

export type NeighborConfig = MasterNeighborConfig | UpstreamNeighborConfig | InternalNeighborConfig;

/** The kernel carries packets, by nexthop objects. */
export interface KernelDataplaneConfig {
  readonly kind: 'kernel';
  readonly buckets: number;
  /** Milliseconds. */
  readonly idleTimer: number;
  readonly table: number;
  readonly protocol: number;
  readonly markBase: number;
  /** Where the VIPs are answered for. */
  readonly proxyInterfaces: readonly string[];
  /** With the interface's link-layer address, or with one that goes with the VIP. */
  readonly proxyMode: 'responder' | 'macvlan';
}

/** HAProxy ends the clients' connections and makes others to the members. Times in milliseconds. */
export interface HaproxyDataplaneConfig {
  readonly kind: 'haproxy';
  readonly folder: string;
  readonly socket: string;
  readonly masterSocket: string;
  readonly maxConnections: number;
  readonly idleTimeout: number;
  readonly userTimeout: number;
  /** The VIPs are made addresses of this host. */
  readonly localVips: boolean;
  readonly protocol: number;
}

/** How packets get to the members, by `kind`. Keys of one kind are none of another. */
export type DataplaneConfig = KernelDataplaneConfig | HaproxyDataplaneConfig;

/** A pair, or more, of load balancers on one link that pass the VIPs between them by VRRP. Times in milliseconds. */
export interface VrrpConfig {
  readonly interface: string;
  /** Default: the last octet of the first VIP of the peers' family. */
  readonly vrid?: number | undefined;
  /** Canonical texts, all of one family. */
  readonly peers: readonly string[];
  /** This host's own on the interface. Default: the first that shares a subnet with the peers. */
  readonly address?: string | undefined;
  readonly priority: number;
  readonly advertInterval: number;
  readonly missedAdverts: number;
  readonly preemptDelay: number;
  /** Further interfaces without which this host serves no client. */
  readonly trackInterfaces: readonly string[];
  readonly folder: string;
  readonly runFolder: string;
}

/** The router's configuration: the file with all defaults filled in. Durations are milliseconds. */
export interface RouterConfig {
  readonly asn: number;
  readonly routerId?: string | undefined;
  /** CLUSTER_ID of RFC 4456. Default: the router id. */
  readonly clusterId?: string | undefined;
  readonly listen: { readonly addresses: readonly string[]; readonly port: number };
  readonly vips: readonly VipConfig[];
  readonly neighbors: readonly NeighborConfig[];
  readonly kubernetes?: KubernetesConfig | undefined;
  readonly healthCheck: {
    readonly path: string;
    readonly serverName: string;
    readonly caFile: string;
    readonly interval: number;
    readonly timeout: number;
    readonly rise: number;
    readonly fall: number;
  };
  readonly pool: {
    /** 0 to 1. */
    readonly panicThreshold: number;
    readonly clientEvidence: boolean;
    readonly evictAfter: number;
    readonly staleTime: number;
    readonly initialHold: number;
    readonly flapHold: number;
    readonly flapHoldMax: number;
    readonly flapDecay: number;
    readonly identities: readonly number[];
  };
  readonly dataplane: DataplaneConfig;
  readonly vrrp?: VrrpConfig | undefined;
  readonly manageSysctls: boolean;
  readonly stateDir: string;
  readonly api: {
    readonly socket: string;
    readonly listen: { readonly host: string; readonly port: number };
    readonly allowedHosts: readonly string[];
  };
  readonly log: { readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' };
}
