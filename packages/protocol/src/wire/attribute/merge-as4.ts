import { AS_TRANS, isTwoOctetAsn } from '../../types/asn.ts';
import { UpdateSubcode } from '../notification-codes.ts';
import type { Aggregator, AsPathSegment } from '../path-attributes.ts';
import { SegmentType } from '../path-attributes.ts';
import { isConfederationSegment } from './as-path-segments.ts';
import { as4Aggregator } from './as4-aggregator.ts';
import { as4Path } from './as4-path.ts';
import type { DiscardNotes } from './codec.ts';
import type { AttributeDraft } from './registry.ts';

/**
 * Puts AS4_PATH and AS4_AGGREGATOR of a peer with 2-octet AS numbers back into AS_PATH and AGGREGATOR
 * (RFC 6793 section 4.2.3), and empties the two.
 */
export function mergeAs4(values: AttributeDraft, notes: DiscardNotes): void {
  const { as4Path: path, as4Aggregator: aggregator } = values;
  values.as4Path = undefined;
  values.as4Aggregator = undefined;
  // An AGGREGATOR with an AS of its own was set by an old speaker after the AS4 attributes: they are out of date.
  const isStale =
    aggregator !== undefined && values.aggregator !== undefined && values.aggregator.asn !== AS_TRANS;
  if (aggregator !== undefined) mergeAggregator(values, aggregator, isStale, notes);
  if (path !== undefined) mergePath(values, path, isStale, notes);
}

function mergeAggregator(
  values: AttributeDraft,
  newer: Aggregator,
  isStale: boolean,
  notes: DiscardNotes,
): void {
  if (values.aggregator !== undefined && !isStale) {
    values.aggregator = newer;
    return;
  }
  const reason = isStale ? 'AGGREGATOR does not hold AS_TRANS' : 'without AGGREGATOR';
  notes.discarded(
    as4Aggregator.code,
    UpdateSubcode.OptionalAttributeError,
    `AS4_AGGREGATOR ignored: ${reason}`,
  );
}

function mergePath(
  values: AttributeDraft,
  newer: readonly AsPathSegment[],
  isStale: boolean,
  notes: DiscardNotes,
): void {
  const { asPath } = values;
  if (asPath === undefined) return;
  if (isStale) {
    const reason = 'AS4_PATH ignored: AGGREGATOR does not hold AS_TRANS';
    notes.discarded(as4Path.code, UpdateSubcode.OptionalAttributeError, reason);
    return;
  }
  const surplus = countAsns(asPath) - countAsns(newer);
  if (surplus < 0) {
    const reason = 'AS4_PATH ignored: longer than AS_PATH';
    notes.discarded(as4Path.code, UpdateSubcode.OptionalAttributeError, reason);
    return;
  }
  values.asPath = joinSegments(leading(asPath, surplus), newer);
}

/** Length for route selection: a set counts one (RFC 4271 section 9.1.2.2), a confederation segment nothing (RFC 5065 section 5.3). */
function countAsns(path: readonly AsPathSegment[]): number {
  return path.reduce((count, segment) => count + weight(segment), 0);
}

function weight(segment: AsPathSegment): number {
  if (isConfederationSegment(segment)) return 0;
  return segment.type === SegmentType.AsSet ? 1 : segment.asns.length;
}

/** The segments from the front that make up `count` AS numbers, the last one cut where need be. */
function leading(path: readonly AsPathSegment[], count: number): AsPathSegment[] {
  const taken: AsPathSegment[] = [];
  let left = count;
  for (const segment of path) {
    if (left === 0) break;
    const whole = weight(segment) <= left;
    taken.push(whole ? segment : { type: segment.type, asns: segment.asns.slice(0, left) });
    left -= whole ? weight(segment) : left;
  }
  return taken;
}

/** Two sequences that meet become one, as they were before an old speaker sat between them. */
function joinSegments(
  head: readonly AsPathSegment[],
  tail: readonly AsPathSegment[],
): readonly AsPathSegment[] {
  const last = head.at(-1);
  const first = tail[0];
  if (last?.type !== SegmentType.AsSequence || first?.type !== SegmentType.AsSequence)
    return [...head, ...tail];
  const joined = { type: SegmentType.AsSequence, asns: [...last.asns, ...first.asns] };
  return [...head.slice(0, -1), joined, ...tail.slice(1)];
}

/** What a peer with 2-octet AS numbers needs beside AS_PATH and AGGREGATOR (RFC 6793 section 4.2.2). */
export function as4Attributes(
  asPath: readonly AsPathSegment[] | undefined,
  aggregator: Aggregator | undefined,
): {
  readonly as4Path: readonly AsPathSegment[] | undefined;
  readonly as4Aggregator: Aggregator | undefined;
} {
  const kept = asPath?.filter((segment) => !isConfederationSegment(segment));
  const needsPath = kept?.some(({ asns }) => asns.some((value) => !isTwoOctetAsn(value))) === true;
  const needsAggregator = aggregator !== undefined && !isTwoOctetAsn(aggregator.asn);
  return {
    as4Path: needsPath ? kept : undefined,
    as4Aggregator: needsAggregator ? aggregator : undefined,
  };
}
