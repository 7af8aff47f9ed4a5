import type { KubernetesObject } from '@bgp-lb/kubernetes';

/** An LB host's object, and for how long it has not been written. */
export interface SeenInstance {
  readonly object: KubernetesObject;
  /** Milliseconds of our own monotonic clock, or by the time in the object before it was seen to change. */
  readonly silentMs: number;
}

/** Everything that decides on one MachineLoadBalancer, as it was at one moment. */
export interface Snapshot {
  /** Wall clock, milliseconds since 1970. */
  readonly now: number;
  readonly loadBalancer: KubernetesObject;
  /** Machines or Nodes, whatever `source` says. */
  readonly candidates: readonly KubernetesObject[];
  /** Clusters of the namespace. */
  readonly clusters: readonly KubernetesObject[];
  /** The object that `infrastructureRef` of the Cluster to publish to names; `undefined` while it is not known. */
  readonly infraCluster: KubernetesObject | undefined;
  readonly provider: KubernetesObject | undefined;
  /** Why objects of the provider's kind cannot be read; `undefined`: they can. */
  readonly providerUnreadable?: string | undefined;
  /** The same of the kind of `infraCluster`. */
  readonly infraUnreadable?: string | undefined;
  /** All of the namespace. */
  readonly instances: readonly SeenInstance[];
  /** What refused the write that publishes the endpoint, and how; `undefined`: it was not tried, or has been done. */
  readonly publishRefused?: string | undefined;
  /** The ConfigMap that LB hosts read, or one of its name that is not ours. */
  readonly pool: KubernetesObject | undefined;
}

/** Some fields of one object, by one field manager: by server-side apply, but the endpoint. */
export interface Apply {
  readonly what: 'status' | 'provider-status' | 'pool' | 'endpoint' | 'provisioned';
  readonly target: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
    /** The object that is meant: another one of this name is not written, and none is made. A pool without it is created. */
    readonly uid?: string | undefined;
    /** It must not have changed since. */
    readonly resourceVersion?: string | undefined;
  };
  readonly isStatus: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface EventText {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface Outcome {
  readonly applies: readonly Apply[];
  readonly events: readonly EventText[];
  /** Milliseconds after which to look again although nothing has changed. */
  readonly requeueAfter: number | undefined;
}
