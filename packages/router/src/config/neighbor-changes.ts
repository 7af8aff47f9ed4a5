import { isDeepStrictEqual } from 'node:util';
import { ReloadError, type ReloadRule } from '@bgp-lb/daemon';
import type { NeighborConfig } from './router-config.ts';

/** What the router takes by a reload. */
export const routerReload: ReloadRule = {
  takes: [
    'neighbors',
    'vips',
    'kubernetes',
    'healthCheck',
    ...['panicThreshold', 'evictAfter', 'initialHold', 'flapHold', 'flapHoldMax', 'flapDecay'].map(
      (key) => `pool.${key}`,
    ),
    ...['peers', 'priority', 'advertInterval', 'missedAdverts', 'preemptDelay', 'trackInterfaces'].map(
      (key) => `vrrp.${key}`,
    ),
    'log',
  ],
  otherwise: 'a start of the router takes (forwarding goes on, no connection breaks)',
};

/** What a reload did: to the neighbors, by name. */
export interface NeighborChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Their sessions were closed, and new ones are opened. */
  readonly changed: readonly string[];
  /** Their sessions go on; what they are told changed, or the key of the next connection. */
  readonly updated: readonly string[];
}

/** The neighbors before and after, by what is to be done. */
export interface NeighborPlan {
  readonly added: readonly NeighborConfig[];
  readonly removed: readonly NeighborConfig[];
  readonly changed: readonly { readonly from: NeighborConfig; readonly to: NeighborConfig }[];
  /** Differ in what needs no new session. */
  readonly updated: readonly NeighborConfig[];
}

/** Keys of an upstream that only change what it is told. */
const TOLD = ['nextHop', 'med', 'prepend', 'communities', 'passCommunities', 'degraded'] as const;

/**
 * Refuses what a reload cannot do to neighbors that stay.
 * @throws ReloadError where BFD changes in more than its timing: a BFD session that ends looks like a death to the other side; and
 *   where sessions of masters would have to be closed: all masters of a range would leave the pool at once
 */
export function checkNeighbors(before: readonly NeighborConfig[], after: readonly NeighborConfig[]): void {
  const pairs = differing(before, after);
  const bfd = pairs.filter(
    ({ from, to }) => isSamePlace(from, to) && !isDeepStrictEqual(bfdKind(from), bfdKind(to)),
  );
  refuse(bfd.map(({ to }) => `neighbors.${to.name}.bfd, in more than intervals and detectMultiplier,`));
  const masters = pairs.filter(({ from, to }) => from.role === 'master' && !isSameSession(from, to));
  refuse(masters.map(({ to }) => `neighbors.${to.name}`));
}

/** Compares neighbors by their names. Pure. */
export function planNeighbors(
  before: readonly NeighborConfig[],
  after: readonly NeighborConfig[],
): NeighborPlan {
  const known = new Set(before.map(({ name }) => name));
  const wanted = new Set(after.map(({ name }) => name));
  const pairs = differing(before, after);
  return {
    added: after.filter(({ name }) => !known.has(name)),
    removed: before.filter(({ name }) => !wanted.has(name)),
    changed: pairs.filter(({ from, to }) => !isSameSession(from, to)),
    updated: pairs.filter(({ from, to }) => isSameSession(from, to)).map(({ to }) => to),
  };
}

/** Neighbors that are in both and not the same. */
function differing(
  before: readonly NeighborConfig[],
  after: readonly NeighborConfig[],
): { readonly from: NeighborConfig; readonly to: NeighborConfig }[] {
  const known = new Map(before.map((neighbor) => [neighbor.name, neighbor]));
  return after.flatMap((to) => {
    const from = known.get(to.name);
    return from === undefined || isDeepStrictEqual(from, to) ? [] : [{ from, to }];
  });
}

function refuse(keys: readonly string[]): void {
  if (keys.length === 0) return;
  const names = keys.join(', ');
  throw new ReloadError(`nothing was reloaded, since ${names} changed, which only ${routerReload.otherwise}`);
}

function isSamePlace(a: NeighborConfig, b: NeighborConfig): boolean {
  return a.role === b.role && placeOf(a) === placeOf(b);
}

/** The address or the range of a neighbor. */
function placeOf(neighbor: NeighborConfig): string {
  return (neighbor.role === 'master' ? (neighbor.range ?? neighbor.address) : neighbor.address) ?? '';
}

/** Whether a session by the one is as good for the other. Whether there is a password is part of it, which one is not. */
function isSameSession(a: NeighborConfig, b: NeighborConfig): boolean {
  return isDeepStrictEqual(sessionOf(a), sessionOf(b));
}

function sessionOf(neighbor: NeighborConfig): object {
  const { passwordFile, bfd: _, ...rest } = neighbor;
  const entries = Object.entries(rest).filter(([key]) => !TOLD.some((told) => told === key));
  return {
    ...Object.fromEntries(entries),
    hasPassword: passwordFile !== undefined,
    bfd: bfdKind(neighbor),
  };
}

/** What a session of BFD is, besides its timing, which may change while it is Up (RFC 5880 section 6.8.3). */
function bfdKind({ bfd }: NeighborConfig): object | false {
  if (bfd === false) return false;
  const { strict, multihop, authentication, keyId } = bfd;
  return { strict, multihop, authentication, keyId };
}
