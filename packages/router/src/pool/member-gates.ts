import type { Member } from './member.ts';

/** Something that must be so for a member to have its full share. */
export interface Gate {
  readonly name:
    | 'session'
    | 'announcement'
    | 'link'
    | 'BFD'
    | 'cluster'
    | 'health check'
    | 'operator'
    | 'flap back-off'
    | 'initial hold';
  readonly pass: boolean;
  /** In words; empty where there is nothing to say. */
  readonly detail: string;
  /** Monotonic milliseconds since when it passes, or does not. */
  readonly since: number;
}

type GateNow = Omit<Gate, 'since'>;

/** The gates of one member, each with since when. */
export class MemberGates {
  #gates: readonly Gate[] = [];

  get all(): readonly Gate[] {
    return this.#gates;
  }

  /** What they are now. */
  look(gates: readonly GateNow[], now: number): void {
    const before = this.#gates;
    this.#gates = gates.map((gate, i) => {
      const was = before[i];
      return { ...gate, since: was?.pass === gate.pass ? was.since : now };
    });
  }
}

/**
 * The gates of a member as they are now, always the same ones in the same order.
 * @param rules.isDrained by the operator, on this load balancer
 * @param rules.isHeld an empty pool waits for more members
 */
export function gatesOf(
  member: Member,
  rules: { readonly isDrained: boolean; readonly isHeld: boolean },
): readonly GateNow[] {
  const { session, health, flaps, isHeldBack } = member;
  const barrier = (kind: 'link' | 'bfd' | 'identity', good: string): Omit<GateNow, 'name'> => {
    const reason = member.barrier(kind);
    return { pass: reason === undefined, detail: reason ?? good };
  };
  const isWaiting = rules.isHeld && member.couldServe && health.hasPassed && !isHeldBack;
  return [
    { name: 'session', pass: session === 'Established', detail: session },
    { name: 'announcement', ...announcement(member) },
    { name: 'link', ...barrier('link', '') },
    { name: 'BFD', ...barrier('bfd', '') },
    { name: 'cluster', ...barrier('identity', '') },
    { name: 'health check', pass: health.hasPassed && health.failure === undefined, detail: health.detail },
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
  return path.intent === 'active'
    ? { pass: true, detail: 'announced' }
    : { pass: false, detail: `announced, and asks for less (${path.intent}): ${path.why}` };
}
