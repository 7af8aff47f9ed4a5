import type { LinkMessage, ReplyTo } from './link-message.ts';

/**
 * Where we are with one VIP on one link. `probing`: we ask whether a host has it. `standby`: a host has it, and we go on
 * asking. `answering`: it is ours.
 */
export type ClaimPhase = 'probing' | 'standby' | 'answering';

/** The claim of one VIP on one link. */
export interface ClaimState {
  readonly phase: ClaimPhase;
  /** Probes since the last answer. */
  readonly unanswered: number;
  /** Announcements that are still to be sent. */
  readonly announcements: number;
  /** Who last said that he has it, and it is not us. */
  readonly owner: string | undefined;
  /** He is a load balancer as we are: who of us answers is settled by itself. */
  readonly isOwnerPeer: boolean;
  /** Monotonic milliseconds. */
  readonly dueAt: number;
  readonly defendedAt: number;
  /** When `owner` last said so. */
  readonly ownerAt: number;
}

export type ClaimEvent =
  | { readonly type: 'tick' }
  /** The pool has a member, or has none any more. */
  | { readonly type: 'serving'; readonly isServing: boolean }
  /** VRRP has given this host the VIP, or taken it. */
  | { readonly type: 'ordered'; readonly isOwner: boolean }
  | LinkMessage;

export type ClaimAction =
  | { readonly send: 'probe' | 'question' | 'announcement' }
  | { readonly send: 'answer'; readonly replyTo: ReplyTo };

/** What a step depends on besides the state. */
export interface ClaimContext {
  /** Our link-layer address on this link. */
  readonly own: string;
  /** The pool has a member: packets are served here. */
  readonly isServing: boolean;
  /** Monotonic milliseconds. */
  readonly now: number;
  /** Who answers is decided by VRRP, and by nothing that is heard on the link. */
  readonly isOrdered?: boolean;
}

/**
 * Unanswered probes after which an address counts as free (RFC 5227 section 1.1, PROBE_NUM). They follow each other faster than
 * there: clients wait for us, and on the segments of a data centre no host needs a second to answer.
 */
const PROBES = 3;
const PROBE_INTERVAL = 250;
/** Between two probes of one who stands by: three of them are how long a load balancer that died goes unnoticed. */
const STANDBY_INTERVAL = 500;
/** Probes of a load balancer without members before it takes an address that no host answers for: others come first. */
const QUIET_PROBES = 10;
/** ANNOUNCE_NUM and more: one that is lost leaves a client with the address of the one before. */
const ANNOUNCEMENTS = 3;
const ANNOUNCE_INTERVAL = 500;
/**
 * Between announcements of one who serves, once those first ones are sent: so that switches do not forget where the address is, and two
 * that both took it while they could not hear each other learn of it. With each he asks who else has it: a host that was given the
 * address without asking, as most kernels do for IPv4, says nothing by itself. As long as DEFEND_INTERVAL (RFC 5227 section 1.1): clients
 * come back to us while it has it too.
 */
const REMINDER_INTERVAL = 10_000;
/** A host that has not claimed the address for so long, while we answer for it, has given it up: it would have claimed it twice in this time. */
const SETTLED = 2 * REMINDER_INTERVAL + 5_000;
/** A claim is answered once in so long (RFC 5227 section 2.4 has ten seconds): two that both stay would fill the link. */
const DEFEND_INTERVAL = 1_000;

/** @param isHeld the kernel has answered for the address since before this process began */
export function initialClaim(now: number, isHeld = false): ClaimState {
  return {
    phase: isHeld ? 'answering' : 'probing',
    unanswered: 0,
    announcements: 0,
    owner: undefined,
    isOwnerPeer: false,
    dueAt: now,
    defendedAt: Number.NEGATIVE_INFINITY,
    ownerAt: Number.NEGATIVE_INFINITY,
  };
}

/**
 * The next state and what is to be sent; pure. Of two load balancers that want the same address, one that can serve comes before
 * one that cannot, and the lower link-layer address before the higher; both know it without talking of it. Any other host that had the
 * address first is left alone; one that comes later, while we serve, does not make us give it up (RFC 5227 section 2.4, (c)): a cluster
 * depends on it.
 */
export function stepClaim(
  state: ClaimState,
  event: ClaimEvent,
  context: ClaimContext,
): { readonly state: ClaimState; readonly actions: readonly ClaimAction[] } {
  switch (event.type) {
    case 'tick':
      return context.now < state.dueAt ? { state, actions: [] } : tick(state, context);
    case 'ordered':
      return { state: ordered(state, event.isOwner, context.now), actions: [] };
    case 'serving':
      return { state: serving(state, event.isServing, context.now), actions: [] };
    case 'question':
      return { state, actions: state.phase === 'answering' ? [answer(event.replyTo)] : [] };
    case 'probe':
      return probed(state, event, context);
    case 'claim':
      return claimed(state, event, context);
  }
}

function tick(state: ClaimState, { isServing, now }: ClaimContext): ReturnType<typeof stepClaim> {
  if (state.phase === 'answering') {
    if (!isServing) return { state: { ...state, dueAt: Number.POSITIVE_INFINITY }, actions: [] };
    const announcements = Math.max(0, state.announcements - 1);
    const owner = now - state.ownerAt >= SETTLED ? undefined : state.owner;
    const dueAt = now + (announcements === 0 ? REMINDER_INTERVAL : ANNOUNCE_INTERVAL);
    const isReminder = state.announcements === 0;
    return {
      state: { ...state, announcements, owner, dueAt, defendedAt: now },
      actions: [...(isReminder ? [{ send: 'question' } as const] : []), { send: 'announcement' }],
    };
  }
  if (state.unanswered >= (isServing ? PROBES : QUIET_PROBES)) {
    const taken = { ...state, phase: 'answering', owner: undefined, unanswered: 0 } as const;
    const announcing = { ...taken, announcements: isServing ? ANNOUNCEMENTS : 0, dueAt: now };
    return tick(announcing, { isServing, now, own: '' });
  }
  const interval = state.phase === 'probing' ? PROBE_INTERVAL : STANDBY_INTERVAL;
  return {
    state: { ...state, unanswered: state.unanswered + 1, dueAt: now + interval },
    actions: [{ send: 'probe' }],
  };
}

function ordered(state: ClaimState, isOwner: boolean, now: number): ClaimState {
  const none = { ...state, unanswered: 0, owner: undefined, isOwnerPeer: false };
  return isOwner
    ? { ...none, phase: 'answering', announcements: ANNOUNCEMENTS, dueAt: now }
    : { ...none, phase: 'standby', announcements: 0, dueAt: Number.POSITIVE_INFINITY };
}

function serving(state: ClaimState, isServing: boolean, now: number): ClaimState {
  if (state.phase !== 'answering') return state;
  return isServing
    ? { ...state, announcements: ANNOUNCEMENTS, dueAt: now }
    : { ...state, announcements: 0, owner: undefined };
}

/** One that cannot serve does not hold an address against one who may. */
function probed(
  state: ClaimState,
  { from, replyTo }: Extract<LinkMessage, { type: 'probe' }>,
  context: ClaimContext,
): ReturnType<typeof stepClaim> {
  if (from === context.own) return { state, actions: [] };
  if (context.isOrdered === true && state.phase !== 'answering') return { state, actions: [] };
  if (state.phase === 'answering') {
    // A host that probes for the address does not have it.
    const settled = from === state.owner ? { ...state, owner: undefined } : state;
    return { state: settled, actions: context.isServing ? [answer(replyTo)] : [] };
  }
  const isRival = state.phase === 'probing' && from !== undefined && from < context.own;
  // Until he claims it we take him for one of us: another host would wait for longer, and be asked by us.
  return { state: isRival ? standBy(state, from, true, context.now) : state, actions: [] };
}

function claimed(
  state: ClaimState,
  { from, isPeer, isShared }: Extract<LinkMessage, { type: 'claim' }>,
  context: ClaimContext,
): ReturnType<typeof stepClaim> {
  const { own, isServing, now, isOrdered } = context;
  if (from === own) return { state, actions: [] };
  if (isOrdered === true && state.phase !== 'answering') {
    return { state: { ...state, owner: from, isOwnerPeer: isPeer ?? false, ownerAt: now }, actions: [] };
  }
  const isOwnerPeer = isPeer ?? (from === state.owner && state.isOwnerPeer);
  // Two that share a link-layer address are told apart by their announcements alone.
  const isFirst = isOrdered !== true && isOwnerPeer && isShared !== true && from < own;
  if (state.phase !== 'answering' || !isServing || isFirst) {
    return { state: standBy(state, from, isOwnerPeer, now), actions: [] };
  }
  const contested = { ...state, owner: from, isOwnerPeer, ownerAt: now };
  const mayAt = state.defendedAt + DEFEND_INTERVAL;
  if (now < mayAt) {
    // The last word is ours: who heard him is told again, as soon as that may be.
    const again = { announcements: Math.max(1, state.announcements), dueAt: Math.min(state.dueAt, mayAt) };
    return { state: { ...contested, ...again }, actions: [] };
  }
  return { state: { ...contested, defendedAt: now }, actions: [{ send: 'announcement' }] };
}

function standBy(state: ClaimState, owner: string, isOwnerPeer: boolean, now: number): ClaimState {
  const dueAt = state.phase === 'standby' ? state.dueAt : now + STANDBY_INTERVAL;
  return {
    ...state,
    phase: 'standby',
    owner,
    isOwnerPeer,
    ownerAt: now,
    unanswered: 0,
    announcements: 0,
    dueAt,
  };
}

function answer(replyTo: ReplyTo): ClaimAction {
  return { send: 'answer', replyTo };
}
