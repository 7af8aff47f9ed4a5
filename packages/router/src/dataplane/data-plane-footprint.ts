import type { Finding } from '@bgp-lb/daemon';

/** What was removed from the host, or with `isDry` would be, and what stays; one phrase each. */
export interface Removal {
  readonly removed: readonly string[];
  /** Settings with their former values. */
  readonly restored: readonly string[];
  readonly left: readonly string[];
}

/** What a data plane needs of this host and leaves on it, for commands that do not ask the daemon. */
export interface DataPlaneFootprint {
  /** That of the data plane. */
  readonly kind: string;
  /**
   * What keeps it from carrying the VIPs to these members, and what is well.
   * @param asked.fixes settings of the host that are missing are made
   * @throws Error where the host cannot be asked at all
   */
  examine(asked: {
    readonly nextHops: readonly string[];
    readonly fixes: boolean;
  }): Promise<readonly Finding[]>;
  /**
   * Removes everything that it has made, and nothing else. Only while no router runs: one would put it back. Idempotent.
   * @param isDry nothing is changed, only said
   * @throws Error when something cannot be removed
   */
  remove(isDry: boolean): Promise<Removal>;
  /** What there is on the host that a bug report needs, by name. */
  snapshot(): Promise<Readonly<Record<string, unknown>>>;
}
