import type { InstanceState } from './notify-line.ts';

/** What is known when it is decided whether this host gives the VIPs up. */
export interface FaultFacts {
  /** Why this host cannot serve, in words; undefined while it can. */
  readonly broken: string | undefined;
  readonly state: InstanceState;
  /** A peer says that it can. */
  readonly hasFitPeer: boolean;
  /** A peer has the VIPs. */
  readonly hasOwner: boolean;
}

/**
 * Whether this host gives the VIPs up, or keeps out. One that cannot serve keeps them as long as no other can: two that are both broken
 * would pass them to and fro, and what is taken for broken may serve all the same. Pure.
 */
export function givesUp({ broken, state, hasFitPeer, hasOwner }: FaultFacts): boolean {
  if (broken === undefined) return false;
  return state === 'master' ? hasFitPeer : hasFitPeer || hasOwner;
}
