import type { HeardRouter } from './heard-routers.ts';
import type { InstanceState } from './notify-line.ts';

/** Who has the VIPs among load balancers on one link, as this one knows it. */
export interface VrrpStatus {
  readonly interface: string;
  readonly vrid: number;
  /** `master`: this host has the VIPs. `fault`: it keeps out, since it cannot serve. `stop`: keepalived does not run. */
  readonly state: InstanceState;
  /** Milliseconds in this state. */
  readonly sinceMs: number;
  /** What has led to it. */
  readonly why: string;
  /** The address of the load balancer that has the VIPs; `null` while none is heard. */
  readonly owner: string | null;
  /** As keepalived uses it: the configured one, less a little for members that are not used. */
  readonly priority: number;
  /** Why this host cannot serve; `null` while it can. */
  readonly unfit: string | null;
  readonly peers: readonly {
    readonly address: string;
    /** It says that it is able to serve. */
    readonly isFit: boolean;
    /** Milliseconds since it was heard; `null` before it was. */
    readonly heardMs: number | null;
  }[];
  /** What keeps keepalived from running as it is wanted; empty while nothing does. */
  readonly problem: string;
  /** Virtual routers of others on the link. */
  readonly others: readonly Omit<HeardRouter, 'agoMs'>[];
}

/** A change of state, told once. */
export interface VrrpChange {
  readonly interface: string;
  readonly from: InstanceState;
  readonly to: InstanceState;
  readonly why: string;
}
