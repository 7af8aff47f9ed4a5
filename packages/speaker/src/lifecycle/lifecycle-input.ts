import type { ReadinessLevel } from '../health/readiness.ts';

/** The part a master plays in the cluster's bootstrap. */
export type Role = 'init' | 'join';

/** Whether kubeadm is known to have succeeded on this machine. `void`: it was, and the proof no longer holds. */
export type BootstrapProof = 'unproven' | 'proven' | 'void';

/** Why the master is being taken out of service on purpose. */
export interface DrainRequest {
  readonly by: 'command' | 'drain file' | 'annotation' | 'stop';
  /** Also when no other master would be left in the pool. */
  readonly isForced: boolean;
  /** Milliseconds that it may last, in place of the configured ones. */
  readonly timeout?: number;
}

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
  readonly drain: DrainRequest | undefined;
  /** A drain is to end now, even while clients are connected. */
  readonly isHurried: boolean;
  /** Connections of clients to the VIPs on this host, counted during a drain; `undefined` when it is not known. */
  readonly clients: number | undefined;
  /** Other masters that the routers have for this VIP and that do not drain themselves, counted during a drain; 0 otherwise. */
  readonly others: number;
  /** The kernel holds new connections to the VIP off. */
  readonly isHeld: boolean;
  /** The routers have shown that they have worked on the withdrawal. */
  readonly haveMovedOn: boolean;
  readonly bindCheck: BindCheck;
  readonly bindCheckDetail: string;
  /** This master advertised the VIP before, in this life or (by the latch) an earlier one: the certificate no longer blocks. */
  readonly hasAdvertised: boolean;
}

export interface LifecycleTimes {
  /** Milliseconds that a drain may last. */
  readonly drainTimeout: number;
  /** Milliseconds that the kernel is waited for to hold new connections off. */
  readonly holdLimit: number;
  /** Milliseconds that requests under way may take at the end of a drain. Less than a SYN waits to be sent again. */
  readonly closingLimit: number;
  /** Milliseconds that they may take, and GOAWAY may take to be heeded, once the API server has closed its port. */
  readonly inFlightLimit: number;
  /** Milliseconds that routers that do not show it are given to work on a withdrawal. */
  readonly moveOnLimit: number;
}

/**
 * The end of a drain. A client that is held off tries again after 1 s (RFC 6298 section 2), and finds another master; after 3 s when
 * requests are under way for so long at an API server that has closed its port. It answers them, and closes connections of HTTP/2
 * no sooner than 1 s after their GOAWAY (Go's net/http): to move them on before would reset what it would have answered.
 */
export const drainPace: Omit<LifecycleTimes, 'drainTimeout'> = {
  holdLimit: 250,
  closingLimit: 500,
  inFlightLimit: 2_000,
  moveOnLimit: 1_000,
};
