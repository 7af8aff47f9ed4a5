import type { MemberStatus } from '../api/machine-load-balancer.ts';
import { listAt } from './read-json.ts';
import type { EventText } from './snapshot.ts';

/** What has become of the members since the last status. */
export function memberEvents(previous: unknown, members: readonly MemberStatus[]): readonly EventText[] {
  const before = new Map(listAt(previous, 'members').map((one) => [one['name'], one]));
  const now = new Set(members.map(({ name }) => name));
  const normal = (reason: string, message: string): EventText => ({ type: 'Normal', reason, message });
  const changed = members.flatMap(({ name, address, healthy, draining, drained, reason }): EventText[] => {
    const old = before.get(name);
    const added =
      old === undefined ? [normal('MemberAdded', `${name} (${address ?? 'without address'})`)] : [];
    const began =
      draining && old?.['draining'] !== true ? [normal('DrainStarted', `${name}: ${reason}`)] : [];
    const ended =
      drained === true && old?.['drained'] !== true ? [normal('DrainCompleted', `${name}: ${reason}`)] : [];
    return [...added, ...healthEvent(old?.['healthy'], healthy, `${name}: ${reason}`), ...began, ...ended];
  });
  const gone = [...before.keys()].filter((name) => !now.has(String(name)));
  return [...changed, ...gone.map((name) => normal('MemberRemoved', String(name)))];
}

/** A member that nothing was known of and that is not healthy yet is not one that has become so. */
function healthEvent(before: unknown, healthy: boolean | undefined, message: string): EventText[] {
  if (healthy === true && before !== true) return [{ type: 'Normal', reason: 'MemberHealthy', message }];
  if (healthy === false && before === true) return [{ type: 'Warning', reason: 'MemberUnhealthy', message }];
  return [];
}
