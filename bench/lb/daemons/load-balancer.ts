/** A daemon that does the load balancer's job: it learns masters by BGP and programs the kernel's route to the VIP. */

/** The names of the daemons, ours first. */
export const daemonNames = ['bgp-lb', 'FRR', 'BIRD'] as const;

/** The name of a daemon. */
export type DaemonName = (typeof daemonNames)[number];

/** One daemon, on a load balancer host that is switched on. */
export interface LoadBalancer {
  readonly name: DaemonName;
  /** Starts it; resolves when its control socket answers, with the milliseconds that took. */
  start(): Promise<number>;
  /** Its processes, by name. */
  processes(): Readonly<Record<string, number>>;
  stop(): Promise<void>;
}
