import { type IpAddressKey, ipAddressKey } from '../types/ip-address.ts';
import { isLinkLocal } from '../types/zone.ts';
import { type DecisionOptions, type DecisionReason, decide } from './decision.ts';
import type { Path } from './path.ts';

/** Why a path is used or not: as the best, beside it, or the step that it lost at. */
export type SelectionReason = DecisionReason | 'multipath' | 'same next hop as a better path';

/** A path with what became of it. */
export interface SelectedPath {
  readonly path: Path;
  readonly reason: SelectionReason;
  /** The path is the best, or as good as the best by another next hop: traffic may take it. */
  readonly isUsed: boolean;
}

/** What the decision process made of the paths to one prefix. */
export interface Selection {
  readonly best: Path | undefined;
  /** Every path, the most preferred first. */
  readonly paths: readonly SelectedPath[];
}

/** The steps that only break ties: paths that differ in no other are equally good (RFC 4271 section 9.1.2.2 (f), (g)). */
const tieBreakers: ReadonlySet<DecisionReason> = new Set<DecisionReason>([
  'higher BGP Identifier',
  'longer CLUSTER_LIST',
  'higher peer address',
  'higher path identifier',
]);

/**
 * Chooses the best path and those that are as good, one for each next hop: two reflectors that tell of one router
 * must not make it count twice.
 */
export function selectPaths(paths: readonly Path[], options: DecisionOptions = {}): Selection {
  const { best, ranking } = decide(paths, options);
  if (ranking.length === 1) {
    return { best, paths: ranking.map(({ path, reason }) => ({ path, reason, isUsed: path === best })) };
  }
  const nextHops = new Set<IpAddressKey | undefined>();
  const selected = ranking.map(({ path, reason }): SelectedPath => {
    if (path !== best && !tieBreakers.has(reason)) return { path, reason, isUsed: false };
    const nextHop = nextHopKey(path);
    if (nextHops.has(nextHop)) return { path, reason: 'same next hop as a better path', isUsed: false };
    nextHops.add(nextHop);
    return { path, reason: path === best ? 'best' : 'multipath', isUsed: true };
  });
  return { best, paths: selected };
}

/** A link-local address names one host on each link. */
function nextHopKey({ attributes: { nextHop }, from }: Path): IpAddressKey | undefined {
  const key = nextHop && ipAddressKey(nextHop);
  return nextHop !== undefined && isLinkLocal(nextHop) ? `${key}%${from.zone}` : key;
}
