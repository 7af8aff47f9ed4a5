import type { BfdState } from '@bgp-lb/protocol';
import type { AutoStatus } from '../auto/data-plane-choice.ts';
import type { UpstreamAdvertisement } from '../bgp/upstream-advertiser.ts';
import type { DataPlaneStatus, ForwardingShare } from '../dataplane/data-plane.ts';
import type { DrainState } from '../drain/host-drain.ts';
import { isDoubtful, type VipEvidence } from '../evidence/client-judge.ts';
import type { MemberSourceStatus } from '../membership/source-status.ts';
import type { OnLinkStatus } from '../on-link/on-link-responder.ts';
import type { Gate } from '../pool/gate.ts';
import type { MemberView } from '../pool/member-view.ts';
import type { PoolRules } from '../pool/pool.ts';
import type { VrrpStatus } from '../vrrp/vrrp-status.ts';

/** A member in `/api/v1/status`. */
interface MemberStatus extends Omit<MemberView, 'since' | 'reasonSince' | 'exits' | 'heldUntil' | 'gates'> {
  /** What BFD last knew of its host; `off` where it is not configured. */
  readonly bfd: BfdState | 'off';
  /** Milliseconds in this state. */
  readonly sinceMs: number;
  /** How often it left the pool, or lost its full share, of late. */
  readonly recentExits: number;
  /** For how many milliseconds more it is held back for that, if it stays good; `null` while it is not. */
  readonly heldBackForMs: number | null;
  /** The operator drains it on this load balancer. */
  readonly drainedHere: boolean;
  /** Why nothing new goes to it although it is in the pool; empty otherwise. */
  readonly forwardingProblem: string;
  /** What its share depends on, one by one, each with since when it passes or not. */
  readonly gates: readonly (Omit<Gate, 'since'> & { readonly sinceMs: number })[];
}

/** A VIP in `/api/v1/status`. */
export interface VipStatus {
  readonly vip: string;
  /** `10.0.0.100:6443` */
  readonly endpoint: string;
  /** Packets to the VIP that arrive at this host reach a member. Whether any are drawn here is `advertised`. */
  readonly ready: boolean;
  /** Milliseconds that it has been so, or not. */
  readonly readySinceMs: number;
  /** `2 of 3 members healthy` */
  readonly status: string;
  /** An upstream has it: the Adj-RIB-Out for an Established session holds it. */
  readonly advertised: boolean;
  /** The same for each upstream, with the reason where it has nothing. */
  readonly advertisements: readonly UpstreamAdvertisement[];
  /** Rules that hold for all members at the moment; `null` for one that does not. */
  readonly rules: {
    /** Too few members are good: health is overruled. */
    readonly panic: { readonly sinceMs: number } | null;
    /** The pool was empty, has a good member, and waits for others. */
    readonly initialHold: { readonly sinceMs: number; readonly endsInMs: number } | null;
  };
  /** What others have put in the way of all clients on this host, in words; `null` where nothing is. It is not ready then, and withdrawn. */
  readonly obstacle: string | null;
  /** What clients' own packets say; `null` before they were looked at. */
  readonly clients: VipEvidence | null;
  readonly members: readonly MemberStatus[];
}

/** `/api/v1/status`. Tools depend on these fields: more may come, none goes. */
export interface RouterStatus {
  readonly routerId: string;
  readonly asn: number;
  readonly vips: readonly VipStatus[];
  /** The lists that members come from besides BGP, and how each is. */
  readonly memberSources: readonly MemberSourceStatus[];
  /** The drain of this load balancer itself: `leaving` asks upstreams to prefer others, `withdrawn` takes the VIPs back. */
  readonly drain: DrainState;
  readonly healthCheck: { readonly verified: boolean; readonly detail: string };
  /** The BFD thread: `SCHED_FIFO 10`, or less and why; `null` while it does not run or no neighbor has BFD. */
  readonly bfd: { readonly scheduling: string | null; readonly problems: readonly string[] };
  readonly dataplane: Omit<DataPlaneStatus, 'vips'> & {
    /** With `dataplane.kind: auto`: which it is, and why. */
    readonly auto?: AutoStatus;
  };
  /**
   * Segments that the kernel of this host dropped for their TCP-MD5 signature (RFC 2385), `null` without passwords.
   * A wrong password shows here and nowhere else: the connection is not refused, it never comes.
   */
  readonly md5: { readonly notFound: number; readonly unexpected: number; readonly failure: number } | null;
  /** VIPs on the interfaces of `dataplane.proxyInterfaces`. */
  readonly onLink: readonly (OnLinkStatus & { /** In this phase. */ readonly sinceMs: number })[];
  /** Who has the VIPs among load balancers of one link; `null` where this one has no part in VRRP. */
  readonly vrrp: VrrpStatus | null;
  readonly version: string;
  readonly uptimeMs: number;
}

/** What the status of one VIP follows from. */
export interface VipFacts {
  readonly vip: string;
  readonly endpoint: string;
  readonly members: readonly MemberView[];
  readonly rules: PoolRules;
  readonly forwarding: readonly string[];
  /** Since when there is a member in it, or none. */
  readonly forwardingSince: number;
  readonly advertisements: readonly UpstreamAdvertisement[];
  /** What others have put in the way of all its clients, in words. */
  readonly obstacle: string | undefined;
  readonly clients: VipEvidence | undefined;
  /** Next hops of the members that the operator drains here. */
  readonly drained: ReadonlySet<string>;
  /** Of the data plane. */
  readonly title: string;
  /** How it carries the members. */
  readonly shares: readonly Pick<ForwardingShare, 'nextHop' | 'problem' | 'check'>[];
  /** Of the member's host. */
  readonly bfdOf: (nextHop: string) => BfdState | 'off';
  readonly now: number;
}

export function vipStatus(facts: VipFacts): VipStatus {
  const { vip, endpoint, members, forwarding, advertisements, now } = facts;
  const healthy = members.filter(({ inPool, health }) => inPool && health === 'passing').length;
  const ready = forwarding.length > 0 && facts.obstacle === undefined;
  const status = members.length === 0 ? 'no members yet' : `${healthy} of ${members.length} members healthy`;
  const isServed = facts.clients === undefined || !isDoubtful(facts.clients.cause);
  return {
    vip,
    endpoint,
    ready,
    readySinceMs: Math.round(now - facts.forwardingSince),
    status:
      facts.obstacle === undefined
        ? isServed
          ? status
          : `${status}, but clients are not served: ${facts.clients.text}`
        : `${status}, but ${facts.obstacle}`,
    advertised: advertisements.some(({ advertised }) => advertised),
    advertisements,
    rules: ruleStatus(facts),
    obstacle: facts.obstacle ?? null,
    clients: facts.clients ?? null,
    members: members.map((view) => ({
      name: view.name,
      nextHop: view.nextHop,
      state: view.state,
      inPool: view.inPool,
      weight: view.weight,
      session: view.session,
      sources: view.sources,
      ...(view.zone !== undefined && { zone: view.zone }),
      bfd: facts.bfdOf(view.nextHop),
      health: view.health,
      reason: reasonOf(view, facts),
      sinceMs: Math.round(now - view.since),
      recentExits: view.exits,
      heldBackForMs: view.heldUntil === undefined ? null : Math.max(0, Math.round(view.heldUntil - now)),
      drainedHere: facts.drained.has(view.nextHop),
      forwardingProblem: forwardingProblem(view, facts),
      gates: view.gates.map(({ since, ...gate }) => ({ ...gate, sinceMs: Math.round(now - since) })),
    })),
  };
}

function ruleStatus({ rules: { panicSince, initialHold }, now }: VipFacts): VipStatus['rules'] {
  return {
    panic: panicSince === undefined ? null : { sinceMs: Math.round(now - panicSince) },
    initialHold:
      initialHold === undefined
        ? null
        : {
            sinceMs: Math.round(now - initialHold.since),
            endsInMs: Math.max(0, Math.round(initialHold.until - now)),
          },
  };
}

function forwardingProblem({ inPool, nextHop }: MemberView, { forwarding, shares, title }: VipFacts): string {
  if (!inPool || forwarding.includes(nextHop)) return '';
  return shares.find((share) => share.nextHop === nextHop)?.problem ?? `${title} has nothing for it`;
}

/** The data plane checks members by itself, and finds one good that fails the router's check and is used all the same. */
function dissentOf({ inPool, health, nextHop }: MemberView, { shares, title }: VipFacts): string {
  const check = shares.find((share) => share.nextHop === nextHop)?.check;
  return inPool && health === 'failing' && check?.passes === true ? `${title} says ${check.text}` : '';
}

function reasonOf(view: MemberView, facts: VipFacts): string {
  if (view.reasonSince !== undefined) {
    return `${view.reason} for ${duration(facts.now - view.reasonSince)}`;
  }
  const problem = forwardingProblem(view, facts);
  const parts = [view.reason, problem === '' ? '' : `not forwarded to: ${problem}`, dissentOf(view, facts)];
  return parts.filter((part) => part !== '').join('; ');
}

/** Why no upstream has a VIP, in one line: `tor-1: the BGP session is Active`. */
export function withheldText(advertisements: readonly UpstreamAdvertisement[]): string {
  return advertisements.map(({ upstream, reason }) => `${upstream}: ${reason}`).join('; ');
}

/** `12.3 s`, and from a minute on `200 s`: tenths of an hour are of no use. */
function duration(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 60_000 ? 1 : 0)} s`;
}
