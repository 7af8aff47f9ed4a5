import type { MemberStatus } from '../api/machine-load-balancer.ts';
import { listAt } from './read-json.ts';
import type { EventText } from './snapshot.ts';

/** Characters of an event's message, which an API server limits to 1024, for all details together. */
const DETAILS = 800;

/** One thing that has become of one member. */
interface Happening {
  readonly reason: string;
  readonly name: string;
  readonly detail: string;
}

/** What has become of the members since the last status: one event for each reason. */
export function memberEvents(previous: unknown, members: readonly MemberStatus[]): readonly EventText[] {
  const before = new Map(listAt(previous, 'members').map((one) => [String(one['name']), one]));
  const now = new Set(members.map(({ name }) => name));
  const changed = members.flatMap(({ name, address, healthy, draining, drained, reason }): Happening[] => {
    const old = before.get(name);
    const began = draining && old?.['draining'] !== true;
    const ended = drained === true && old?.['drained'] !== true;
    const health = healthReason(old?.['healthy'], healthy);
    return [
      ...(old === undefined
        ? [{ reason: 'MemberAdded', name: `${name} (${address ?? 'without address'})`, detail: '' }]
        : []),
      ...(health === undefined ? [] : [{ reason: health, name, detail: reason }]),
      ...(began ? [{ reason: 'DrainStarted', name, detail: reason }] : []),
      ...(ended ? [{ reason: 'DrainCompleted', name, detail: reason }] : []),
    ];
  });
  const gone = [...before.keys()].filter((name) => !now.has(name));
  const all = [...changed, ...gone.map((name) => ({ reason: 'MemberRemoved', name, detail: '' }))];
  return [...groupedBy(all, 'reason')].map(([reason, happenings]) => ({
    type: reason === 'MemberUnhealthy' ? 'Warning' : 'Normal',
    reason,
    message: messageOf(happenings),
  }));
}

/** Members of which the same is to be said are named together. */
function messageOf(happenings: readonly Happening[]): string {
  const byDetail = groupedBy(happenings, 'detail');
  const longest = Math.floor(DETAILS / byDetail.size);
  return [...byDetail]
    .map(([detail, ones]) => {
      const names = ones.map(({ name }) => name).join(', ');
      return detail === '' ? names : `${names}: ${detail.slice(0, longest)}`;
    })
    .join('; ');
}

function groupedBy(
  happenings: readonly Happening[],
  key: 'reason' | 'detail',
): ReadonlyMap<string, Happening[]> {
  const groups = new Map<string, Happening[]>();
  for (const one of happenings) groups.set(one[key], [...(groups.get(one[key]) ?? []), one]);
  return groups;
}

/** A member that nothing was known of and that is not healthy yet is not one that has become so. */
function healthReason(before: unknown, healthy: boolean | undefined): string | undefined {
  if (healthy === true && before !== true) return 'MemberHealthy';
  if (healthy === false && before === true) return 'MemberUnhealthy';
  return undefined;
}
