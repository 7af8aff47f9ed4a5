import type { ReadinessLevel } from '../health/readiness.ts';

/** The part a master plays in the cluster's bootstrap. */
export type Role = 'init' | 'join';

/** Whether kubeadm is known to have succeeded on this machine. `void`: it was, and the proof no longer holds. */
export type BootstrapProof = 'unproven' | 'proven' | 'void';

/** Why the master is being taken out of service on purpose. */
export type DrainRequest = 'drain file' | 'shutdown';

/**
 * What a TLS connection to VIP:port on this host has shown since the VIP was bound here.
 * `wrong-certificate`: it answers, but its certificate lacks the name that clients use.
 */
export type BindCheck = 'pending' | 'passed' | 'failed' | 'wrong-certificate';

/** Everything that the state of one VIP depends on. A snapshot: the state machine reads nothing else. */
export interface LifecycleInput {
  readonly role: Role;
  readonly bootstrap: BootstrapProof;
  readonly bootstrapDetail: string;
  readonly readiness: ReadinessLevel;
  readonly readinessDetail: string;
  /** The last probe was refused: the API server has closed its port. Ends a drain at first sight. */
  readonly isPortClosed: boolean;
  /** Connections of clients to the VIPs on this host, counted during a drain; `undefined` when nobody knows. */
  readonly clients: number | undefined;
  readonly drain: DrainRequest | undefined;
  readonly bindCheck: BindCheck;
  readonly bindCheckDetail: string;
  /** This master advertised the VIP before, in this life or (by the latch) an earlier one: the certificate no longer blocks. */
  readonly hasAdvertised: boolean;
}

export interface LifecycleTimes {
  /** Milliseconds that a drain may last. */
  readonly drainTimeout: number;
  /** Milliseconds that a drain lasts at least while the API server serves, even without a client. */
  readonly leastDrain: number;
  /** Milliseconds between the withdrawal that ends a drain and the removal of the VIP. */
  readonly withdrawDelay: number;
}

/** What the routers need of a drain: to send new clients elsewhere, and to move on after the withdrawal. */
export const drainPace: Pick<LifecycleTimes, 'leastDrain' | 'withdrawDelay'> = {
  leastDrain: 2_000,
  withdrawDelay: 1_000,
};
