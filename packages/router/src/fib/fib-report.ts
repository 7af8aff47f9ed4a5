import { ControlError, type Table } from '@bgp-lb/daemon';
import { hostPrefix } from '@bgp-lb/protocol';
import type { DataPlane, Difference } from '../dataplane/data-plane.ts';
import type { OnLinkResponder } from '../on-link/on-link-responder.ts';

/** Something of a VIP that is not in place as the router wants it. */
interface FibDifference {
  /** `10.100.0.1/32`; `null` for what serves all of them. */
  readonly vip: string | null;
  readonly object: Difference['object'] | 'on link';
  /** What there is against what is wanted, in words. */
  readonly difference: string;
}

/** Hash buckets of a member, and how many it would have by its weight. A member that came back gets there as buckets fall idle. */
interface BucketCount {
  readonly vip: string;
  readonly nextHop: string;
  readonly buckets: number;
  readonly fair: number;
}

/** `/api/v1/fib/differences`: what the data plane has against what the router wants, as it is before anything is put right. */
export interface FibReport {
  readonly differences: readonly FibDifference[];
  readonly buckets: readonly BucketCount[];
}

/** Reads everything again. @throws ControlError when it cannot be read */
export async function fibReport(
  dataPlane: Pick<DataPlane, 'title' | 'differences' | 'status'>,
  onLink: Pick<OnLinkResponder, 'status'>,
): Promise<FibReport> {
  try {
    const differences: FibDifference[] = [...(await dataPlane.differences()), ...unanswered(onLink)];
    return { differences, buckets: bucketCounts(dataPlane) };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new ControlError(503, `what ${dataPlane.title} has cannot be read: ${text}`);
  }
}

/** Two load balancers agree who answers: standing by is as wanted. */
function unanswered(onLink: Pick<OnLinkResponder, 'status'>): FibDifference[] {
  return onLink
    .status()
    .filter(({ phase }) => phase === 'absent')
    .map(({ address, interface: name, problem }) => ({
      vip: hostPrefix(address),
      object: 'on link',
      difference: `not answered for on ${name}: ${problem}`,
    }));
}

function bucketCounts(dataPlane: Pick<DataPlane, 'status'>): BucketCount[] {
  return dataPlane.status({ shares: true, packets: false }).vips.flatMap(({ vip, members }) => {
    const spread = members.flatMap(({ nextHop, buckets, weight }) =>
      buckets === undefined ? [] : [{ nextHop, buckets, weight }],
    );
    const total = spread.reduce((sum, { buckets }) => sum + buckets, 0);
    const weights = spread.reduce((sum, { weight }) => sum + weight, 0);
    return spread.map(({ nextHop, buckets, weight }) => ({
      vip,
      nextHop,
      buckets,
      fair: weights === 0 ? 0 : Math.round((total * weight) / weights),
    }));
  });
}

/** The report for people. */
export function fibReportTables({ differences, buckets }: FibReport): readonly Table[] {
  return [
    {
      columns: ['VIP', 'OBJECT', 'DIFFERENCE'],
      rows: differences.map(({ vip, object, difference }) => [vip ?? 'all', object, difference]),
      empty: 'no differences',
    },
    // Where connections are spread in another way there are none, and nothing to say of them.
    ...(buckets.length === 0
      ? []
      : [
          {
            columns: ['VIP', 'NEXT HOP', 'BUCKETS', 'BY WEIGHT'],
            rows: buckets.map(({ vip, nextHop, buckets: has, fair }) => [vip, nextHop, has, fair]),
          },
        ]),
  ];
}
