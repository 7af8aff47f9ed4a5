import { parseDuration } from '@bgp-lb/daemon';
import {
  LONGEST_REASON,
  type MachineLoadBalancerSpec,
  type MemberStatus,
  MOST_MEMBERS,
} from '../api/machine-load-balancer.ts';
import { cutAt, rfc3339 } from './conditions.ts';
import { type MemberHealth, memberHealth } from './member-health.ts';
import type { PoolMember } from './pool-object.ts';
import type { ProviderView } from './provider-view.ts';
import { listAt, textAt } from './read-json.ts';
import type { SelectedMember } from './select-members.ts';

/** A zone that LB hosts take. It is for their status alone, and one of another form would have them refuse the whole pool. */
const POOL_ZONE = /^[!-~]{1,63}$/;

/** What becomes of one member. */
interface MemberState extends SelectedMember {
  readonly health: MemberHealth;
  /** Why it is not given to LB hosts; `undefined`: it is. */
  readonly standby: string | undefined;
  readonly status: MemberStatus;
  /** Milliseconds until its drain is over by time alone; `undefined` for others. */
  readonly drainEndsIn: number | undefined;
}

export interface MemberStates {
  readonly members: readonly MemberState[];
  /** Selected, and more than a pool takes. */
  readonly tooMany: readonly string[];
  readonly pool: readonly PoolMember[];
}

/** All that is to be known of the members: who is used, how each is, how far its drain is. */
export function memberStates(
  spec: MachineLoadBalancerSpec,
  selected: readonly SelectedMember[],
  view: ProviderView,
  previous: unknown,
  now: number,
): MemberStates {
  const { zones } = spec;
  const inZone = selected.filter(({ zone }) => zones.mode !== 'Only' || zone === zones.name);
  const kept = inZone.slice(0, MOST_MEMBERS);
  const judged = kept.map((member) => ({ member, health: memberHealth(member, view) }));
  // A zone without a member that can be used is not preferred.
  const isPreferred =
    zones.mode === 'Prefer' &&
    judged.some(
      ({ member, health }) =>
        member.zone === zones.name &&
        member.drain === undefined &&
        member.address !== undefined &&
        isPossible(health),
    );
  const members = judged.map(({ member, health }) => {
    const standby = standbyReason(member, kept, isPreferred ? zones.name : undefined);
    return { ...member, health, standby, ...statusOf(member, health, standby, spec, previous, now) };
  });
  return {
    members,
    tooMany: inZone.slice(MOST_MEMBERS).map(({ name }) => name),
    pool: members.flatMap(({ name, address, port, zone, standby, status }) =>
      address === undefined || standby !== undefined
        ? []
        : [
            {
              ...{ name, address, port: port ?? spec.port.machinePort, draining: status.draining },
              zone: zone !== undefined && POOL_ZONE.test(zone) ? zone : undefined,
            },
          ],
    ),
  };
}

/** One that is not in the pool yet is given a chance. */
function isPossible({ healthy, isUnseen }: MemberHealth): boolean {
  return healthy !== false || isUnseen;
}

function standbyReason(
  member: SelectedMember,
  all: readonly SelectedMember[],
  preferred: string | undefined,
): string | undefined {
  if (member.address === undefined) return undefined;
  // Of two with one address (a Machine and the one that replaces it) LB hosts take one.
  const twins = all.filter(({ address }) => address === member.address);
  const [used] = [...twins.filter(({ drain }) => drain === undefined), ...twins];
  if (used !== undefined && used.name !== member.name) return `it has the address of ${used.name}`;
  if (preferred !== undefined && member.zone !== preferred)
    return `stands by: zone ${preferred} is preferred`;
  return undefined;
}

function statusOf(
  { name, address, zone, drain }: SelectedMember,
  health: MemberHealth,
  standby: string | undefined,
  spec: MachineLoadBalancerSpec,
  previous: unknown,
  now: number,
): Pick<MemberState, 'status' | 'drainEndsIn'> {
  const base = {
    name,
    ...(address === undefined ? {} : { address }),
    ...(zone === undefined ? {} : { zone }),
  };
  const healthy = standby === undefined ? health.healthy : undefined;
  const known = { ...base, ...(healthy === undefined ? {} : { healthy }) };
  if (drain === undefined)
    return {
      status: { ...known, draining: false, reason: cutAt(standby ?? health.reason, LONGEST_REASON) },
      drainEndsIn: undefined,
    };
  const before = listAt(previous, 'members').find((one) => one['name'] === name);
  const began = drainBegan(before, now);
  const lasted = now - began;
  const { delay, timeout } = {
    delay: parseDuration(spec.drain.delay) ?? 0,
    timeout: parseDuration(spec.drain.timeout) ?? 0,
  };
  const isOver = lasted >= timeout;
  const isIdle = health.isIdle || standby !== undefined;
  const drained = before?.['drained'] === true || isOver || (isIdle && lasted >= delay);
  const how = drained ? `drained${isOver && !isIdle ? ' (its time is over)' : ''}` : 'draining';
  return {
    status: {
      ...known,
      draining: true,
      drainingSince: rfc3339(began),
      drained,
      reason: cutAt(`${how}: ${drain}`, LONGEST_REASON),
    },
    drainEndsIn: drained
      ? undefined
      : Math.max(0, (lasted < delay && isIdle ? Math.min(delay, timeout) : timeout) - lasted),
  };
}

/** When a drain was first seen; one that is later than now is of a replica whose clock was ahead, and would hold it for that long. */
function drainBegan(before: unknown, now: number): number {
  const since = Date.parse(textAt(before, 'drainingSince') ?? '');
  return Number.isNaN(since) ? now : Math.min(since, now);
}
