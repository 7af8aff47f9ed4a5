import type { GateNow } from './gate.ts';
import type { Member } from './member.ts';

/**
 * The gates of a member as they are now, always the same ones in the same order.
 * @param rules.doubt why clients are taken not to be served by it, though health finds nothing
 * @param rules.isDrained by the operator, on this load balancer
 * @param rules.isHeld an empty pool waits for more members
 */
export function gatesOf(
  member: Member,
  rules: {
    readonly isDrained: boolean;
    readonly isHeld: boolean;
    readonly doubt?: string | undefined;
  },
): readonly GateNow[] {
  const { session, health, flaps, isHeldBack } = member;
  const barrier = (kind: 'link' | 'bfd' | 'identity', good: string): Omit<GateNow, 'name'> => {
    const reason = member.barrier(kind);
    return { pass: reason === undefined, detail: reason ?? good };
  };
  const isWaiting = rules.isHeld && member.couldServe && health.hasPassed && !isHeldBack;
  return [
    session === undefined
      ? { name: 'session', pass: true, detail: 'none: judged by health alone' }
      : { name: 'session', pass: session.isLive, detail: session.state },
    { name: 'announcement', ...announcement(member) },
    { name: 'link', ...barrier('link', '') },
    { name: 'BFD', ...barrier('bfd', '') },
    { name: 'cluster', ...barrier('identity', '') },
    { name: 'health check', pass: health.hasPassed && health.failure === undefined, detail: health.detail },
    { name: 'clients', pass: rules.doubt === undefined, detail: rules.doubt ?? '' },
    {
      name: 'operator',
      pass: !rules.isDrained,
      detail: rules.isDrained ? 'drained on this load balancer' : '',
    },
    {
      name: 'flap back-off',
      pass: !isHeldBack,
      detail: isHeldBack
        ? `left the pool, or lost its share, ${flaps.exits} times of late: must be good for ${flaps.hold / 1000} s`
        : '',
    },
    {
      name: 'initial hold',
      pass: !isWaiting,
      detail: isWaiting ? 'good; the pool was empty and waits for the others' : '',
    },
  ];
}

function announcement({ path, kept, absence }: Member): Omit<GateNow, 'name'> {
  if (path === undefined) return { pass: false, detail: kept?.reason ?? absence };
  if (path.isStale) return { pass: false, detail: path.staleReason };
  if (path.isListed) return { pass: path.intent === 'active', detail: path.why };
  return path.intent === 'active'
    ? { pass: true, detail: 'announced' }
    : { pass: false, detail: `announced, and asks for less (${path.intent}): ${path.why}` };
}
