/** Identities of one cluster: hashes of its CA keys, several while the CA is rotated. */
export type Identities = readonly number[];

/** What is asked of a member to know which cluster it is of. */
export interface Identified {
  /** Empty: it does not say. */
  readonly identities: Identities;
  readonly isInUse: boolean;
  /** It has a path and answers. */
  readonly couldServe: boolean;
  readonly hasPath: boolean;
}

/**
 * Which cluster a pool belongs to: what is configured, or else what its members in use say. A protection against
 * mix-ups, not against attackers: two clusters that share a network and a password. A member that says nothing, as one
 * that runs FRR, is taken.
 */
export class ClusterIdentity {
  readonly #configured: Identities;
  #learned: Identities = [];

  constructor(configured: Identities) {
    this.#configured = configured;
  }

  /**
   * Learns from the members as they are. A new key is learned from a member in use that has an old one too, an old one is
   * forgotten when no member in use has it any more, and all when no member with one of them has a path. While none is in
   * use the most of those that could be decide.
   * @returns the identities of the cluster; empty when any will do
   */
  learn(members: readonly Identified[]): Identities {
    if (this.#configured.length > 0) {
      return this.#configured;
    }
    const inUse = members.filter(({ isInUse, identities }) => isInUse && isOf(this.#learned, identities));
    const said = union(inUse.map(({ identities }) => identities));
    if (said.length > 0) {
      this.#learned = said;
    } else if (!members.some(({ hasPath, identities }) => hasPath && shares(this.#learned, identities))) {
      this.#learned = [];
    }
    return this.#learned.length > 0 ? this.#learned : mostSaid(members);
  }
}

/** A member with these identities may be of the cluster. */
export function isOf(cluster: Identities, identities: Identities): boolean {
  return cluster.length === 0 || identities.length === 0 || shares(cluster, identities);
}

/** For people: `1a2b3c4d`. */
export function identityText(identities: Identities): string {
  return identities.map((id) => id.toString(16).padStart(8, '0')).join(' or ');
}

function shares(a: Identities, b: Identities): boolean {
  return a.some((id) => b.includes(id));
}

function union(lists: readonly Identities[]): Identities {
  return [...new Set(lists.flat())].sort((a, b) => a - b);
}

/** Of several that as many say, the first. */
function mostSaid(members: readonly Identified[]): Identities {
  const said = members.filter(({ couldServe, identities }) => couldServe && identities.length > 0);
  const groups = said.map(({ identities }) => said.filter((other) => shares(identities, other.identities)));
  const most = groups.reduce((best, group) => (group.length > best.length ? group : best), groups[0] ?? []);
  return union(most.map(({ identities }) => identities));
}
