/** A daemon that does the load balancer's job: it learns masters by BGP and programs the kernel's route to the VIP. */

/** The names of the daemons, ours first. */
export const daemonNames = ['bgp-lb', 'FRR', 'BIRD'] as const;

/** The name of a daemon. */
export type DaemonName = (typeof daemonNames)[number];

/** How a daemon finds out that a master is dead without a word. */
export interface Detection {
  /** BFD in both directions with so many ms, three of them for death; none without it. */
  readonly bfdInterval?: number;
  /** Seconds; a third of it is the time between keepalives. Default 9. */
  readonly holdTime?: number;
}

/** One daemon, on a load balancer host that is switched on. */
export interface LoadBalancer {
  readonly name: DaemonName;
  /** Starts it; resolves when its control socket answers, with the milliseconds that took. */
  start(): Promise<number>;
  /** Its processes, by name. */
  processes(): Readonly<Record<string, number>>;
  stop(): Promise<void>;
}
