import type { VipForwarding } from '../dataplane/data-plane.ts';
import type { MemberView } from '../pool/member-view.ts';

/** A member in `/api/v1/status`. */
interface MemberStatus extends Omit<MemberView, 'since'> {
  /** BFD is not part of this release. */
  readonly bfd: 'off';
  /** Milliseconds in this state. */
  readonly sinceMs: number;
}

/** A VIP in `/api/v1/status`. */
export interface VipStatus {
  readonly vip: string;
  /** `10.0.0.100:6443` */
  readonly endpoint: string;
  /** Packets to the VIP reach a member. */
  readonly ready: boolean;
  /** `2 of 3 members healthy` */
  readonly status: string;
  /** The VIP is advertised to the upstreams, where there are any. */
  readonly advertised: boolean;
  readonly members: readonly MemberStatus[];
}

/** `/api/v1/status`. Tools depend on these fields: more may come, none goes. */
export interface RouterStatus {
  readonly routerId: string;
  readonly asn: number;
  readonly vips: readonly VipStatus[];
  readonly healthCheck: { readonly verified: boolean; readonly detail: string };
  readonly dataplane: { readonly kind: string; readonly problems: readonly string[] };
  /**
   * Segments that the kernel of this host dropped for their TCP-MD5 signature (RFC 2385), `null` without passwords.
   * A wrong password shows here and nowhere else: the connection is not refused, it never comes.
   */
  readonly md5: { readonly notFound: number; readonly unexpected: number; readonly failure: number } | null;
  readonly version: string;
  readonly uptimeMs: number;
}

/** What the status of one VIP follows from. */
export interface VipFacts {
  readonly vip: string;
  readonly endpoint: string;
  readonly members: readonly MemberView[];
  readonly forwarding: readonly string[];
  readonly hasUpstreams: boolean;
  /** Why a member that is in the pool is not forwarded to, by next hop. */
  readonly problems: ReadonlyMap<string, string>;
  readonly now: number;
}

export function vipStatus(facts: VipFacts): VipStatus {
  const { vip, endpoint, members, forwarding, now } = facts;
  const healthy = members.filter(({ inPool, health }) => inPool && health === 'passing').length;
  const ready = forwarding.length > 0;
  return {
    vip,
    endpoint,
    ready,
    status: members.length === 0 ? 'no members yet' : `${healthy} of ${members.length} members healthy`,
    advertised: ready && facts.hasUpstreams,
    members: members.map((view) => ({
      name: view.name,
      nextHop: view.nextHop,
      state: view.state,
      inPool: view.inPool,
      weight: view.weight,
      session: view.session,
      bfd: 'off',
      health: view.health,
      reason: reasonOf(view, facts),
      sinceMs: Math.round(now - view.since),
    })),
  };
}

function reasonOf(view: MemberView, { forwarding, problems }: VipFacts): string {
  if (!view.inPool || forwarding.includes(view.nextHop)) {
    return view.reason;
  }
  const problem = problems.get(view.nextHop) ?? 'the kernel has no next hop for it';
  return view.reason === '' ? `not forwarded to: ${problem}` : `${view.reason}; not forwarded to: ${problem}`;
}

/** Why members are not forwarded to, from what the data plane says of a VIP. */
export function forwardingProblems(vip: VipForwarding | undefined): Map<string, string> {
  const entries = vip?.members.map(({ nextHop, problem }) => [nextHop, problem] as const) ?? [];
  return new Map(entries.filter(([, problem]) => problem !== ''));
}
