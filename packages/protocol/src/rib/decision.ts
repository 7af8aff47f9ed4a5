import { compareIpAddress } from '../types/ip-address.ts';
import type { AsPathSegment } from '../wire/path-attributes.ts';
import { Origin, SegmentType } from '../wire/path-attributes.ts';
import type { Path } from './path.ts';

/** The steps of the decision process in their order, and `best` for what is left. */
export type DecisionReason =
  | 'best'
  | 'next hop unreachable'
  | 'lower LOCAL_PREF'
  | 'longer AS_PATH'
  | 'higher ORIGIN'
  | 'higher MULTI_EXIT_DISC'
  | 'internal loses to external'
  | 'higher interior cost'
  | 'higher BGP Identifier'
  | 'longer CLUSTER_LIST'
  | 'higher peer address'
  | 'higher path identifier';

export interface DecisionOptions {
  /** The degree of preference of a path without LOCAL_PREF, as an external one is. Default: 100. */
  readonly defaultLocalPref?: number;
  /** Whether the next hop can be reached (RFC 4271 section 9.1.2.1). Default: it can. */
  readonly isReachable?: (path: Path) => boolean;
  /** The metric to the next hop. The step is skipped for a comparison in which a cost is unknown. Default: unknown. */
  readonly interiorCost?: (path: Path) => number | undefined;
}

export interface RankedPath {
  readonly path: Path;
  /** The step that this path lost at against the best one, or `best`. */
  readonly reason: DecisionReason;
}

export interface Decision {
  /** `undefined` when there is no path that can be used. */
  readonly best: Path | undefined;
  /** Every path given, most preferred first: the best, then the one that were best without it, and so on. */
  readonly ranking: readonly RankedPath[];
}

interface Step {
  readonly reason: DecisionReason;
  /** The paths that the step leaves, at least one of those given. */
  readonly keep: (paths: readonly Path[], options: DecisionOptions) => readonly Path[];
}

/** RFC 4271 section 9.1.2.2 (a) to (g) with the two changes of RFC 4456 section 9, between degree of preference and ADD-PATH. */
const steps: readonly Step[] = [
  // Section 9.1.1: GRACEFUL_SHUTDOWN (RFC 8326) has no step of its own, it is seen here by the LOCAL_PREF that goes with it.
  {
    reason: 'lower LOCAL_PREF',
    keep: lowest((path, options) => -(path.attributes.localPref ?? options.defaultLocalPref ?? 100)),
  },
  { reason: 'longer AS_PATH', keep: lowest((path) => asPathLength(path.attributes.asPath)) },
  { reason: 'higher ORIGIN', keep: lowest((path) => path.attributes.origin ?? Origin.Incomplete) },
  { reason: 'higher MULTI_EXIT_DISC', keep: lowestMedOfEachNeighbor },
  { reason: 'internal loses to external', keep: lowest((path) => (path.from.isInternal ? 1 : 0)) },
  { reason: 'higher interior cost', keep: lowestInteriorCost },
  {
    reason: 'higher BGP Identifier',
    keep: lowest((path) => path.attributes.originatorId ?? path.from.routerId),
  },
  { reason: 'longer CLUSTER_LIST', keep: lowest((path) => path.attributes.clusterList?.length ?? 0) },
  { reason: 'higher peer address', keep: lowestPeerAddress },
  // Two paths of one peer are equal in all of the above; RFC 7911 leaves the choice open.
  { reason: 'higher path identifier', keep: lowest((path) => path.pathId) },
];

/**
 * Chooses the best of the paths to one prefix (RFC 4271 section 9.1.2, RFC 4456 section 9) and says which step each
 * other one lost at. The answer does not depend on the order of the paths: there is no "oldest wins" step, and
 * MULTI_EXIT_DISC is compared inside the group of each neighboring AS. The ranking takes time quadratic in the number
 * of paths, so the paths that one peer may have should be limited where ADD-PATH is received.
 */
export function decide(paths: readonly Path[], options: DecisionOptions = {}): Decision {
  const { isReachable } = options;
  const [only] = paths;
  if (only !== undefined && paths.length === 1) return decideAlone(only, options);
  const usable = isReachable === undefined ? paths : paths.filter(isReachable);
  const reasons = new Map<Path, DecisionReason>();
  const ranking: RankedPath[] = [];
  let left: readonly Path[] = usable;
  while (left.length > 0) {
    const winner = select(left, options, ranking.length === 0 ? reasons : undefined);
    if (winner === undefined) break;
    ranking.push({ path: winner, reason: reasons.get(winner) ?? 'best' });
    left = left.filter((path) => path !== winner);
  }
  const best = ranking[0]?.path;
  const unusable = usable.length === paths.length ? [] : paths.filter((path) => !usable.includes(path));
  for (const path of unusable.toSorted(comparePeerAndId))
    ranking.push({ path, reason: 'next hop unreachable' });
  return { best, ranking };
}

/** What most prefixes have, in a large table. */
function decideAlone(path: Path, { isReachable }: DecisionOptions): Decision {
  if (isReachable === undefined || isReachable(path))
    return { best: path, ranking: [{ path, reason: 'best' }] };
  return { best: undefined, ranking: [{ path, reason: 'next hop unreachable' }] };
}

/** Runs the steps over the paths; notes for each path that falls out which step it was. */
function select(
  paths: readonly Path[],
  options: DecisionOptions,
  reasons: Map<Path, DecisionReason> | undefined,
): Path | undefined {
  let left = paths;
  for (const { reason, keep } of steps) {
    if (left.length === 1) break;
    const kept = keep(left, options);
    if (reasons !== undefined && kept.length < left.length) {
      const stays = new Set(kept);
      for (const path of left) if (!stays.has(path)) reasons.set(path, reason);
    }
    left = kept;
  }
  return left[0];
}

type Measure = (path: Path, options: DecisionOptions) => number;

function lowest(measure: Measure): Step['keep'] {
  return (paths, options) => {
    const values = paths.map((path) => measure(path, options));
    const least = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    return paths.filter((_, i) => values[i] === least);
  };
}

/** RFC 4271 section 9.1.2.2 (a); confederation segments do not count (RFC 5065 section 5.3). */
function asPathLength(segments: readonly AsPathSegment[] | undefined): number {
  let length = 0;
  for (const { type, asns } of segments ?? []) {
    if (type === SegmentType.AsSequence) length += asns.length;
    else if (type === SegmentType.AsSet) length += 1;
  }
  return length;
}

/** RFC 4271 section 9.1.2.2 (c): a path goes when another one from the same neighboring AS has a lower value. */
function lowestMedOfEachNeighbor(paths: readonly Path[]): readonly Path[] {
  const least = new Map<number, number>();
  for (const path of paths) {
    const neighbor = neighborAs(path);
    least.set(neighbor, Math.min(med(path), least.get(neighbor) ?? Number.POSITIVE_INFINITY));
  }
  return paths.filter((path) => med(path) === least.get(neighborAs(path)));
}

/** An absent MULTI_EXIT_DISC is the lowest possible. */
function med(path: Path): number {
  return path.attributes.multiExitDisc ?? 0;
}

/**
 * The AS that the route came into ours from: the left-most one. Where an internal peer sends an empty AS_PATH, or one
 * that begins with an AS_SET, it is our own AS, which is the peer's too.
 */
function neighborAs(path: Path): number {
  const first = path.attributes.asPath?.find(
    ({ type }) => type === SegmentType.AsSequence || type === SegmentType.AsSet,
  );
  return (first?.type === SegmentType.AsSequence ? first.asns[0] : undefined) ?? path.from.asn;
}

/** RFC 4271 section 9.1.2.2 (e): where a cost cannot be told, all are taken as equal. */
function lowestInteriorCost(paths: readonly Path[], options: DecisionOptions): readonly Path[] {
  const { interiorCost } = options;
  if (interiorCost === undefined) return paths;
  const costs = paths.map(interiorCost);
  if (costs.includes(undefined)) return paths;
  return lowest((path) => interiorCost(path) ?? 0)(paths, options);
}

function lowestPeerAddress(paths: readonly Path[]): readonly Path[] {
  const [first, ...others] = paths;
  if (first === undefined) return paths;
  const least = others.reduce(
    (a, b) => (compareIpAddress(b.from.address, a.from.address) < 0 ? b : a),
    first,
  );
  return paths.filter((path) => compareIpAddress(path.from.address, least.from.address) === 0);
}

function comparePeerAndId(a: Path, b: Path): number {
  return compareIpAddress(a.from.address, b.from.address) || a.pathId - b.pathId;
}
