import type { RouterConfig } from '../config/router-config.ts';
import type { MemberView } from '../pool/member-view.ts';

/** What the ConfigMap of a MachineLoadBalancer is called, before its name. */
const POOL = 'bgp-lb-pool-';
/** What the schema of LoadBalancerInstance takes. */
const MOST_MEMBERS = 128;
const LONGEST_REASON = 1_024;

/** What this load balancer sees of one MachineLoadBalancer, as `status.loadBalancers[]` of a LoadBalancerInstance has it. */
interface LoadBalancerReport {
  readonly name: string;
  /** It carries the address, with or without a member. */
  readonly answers: boolean;
  readonly drift?: string;
  readonly members: readonly {
    readonly name: string;
    readonly address: string;
    readonly healthy: boolean;
    readonly draining: boolean;
    readonly reason?: string;
  }[];
}

/**
 * Reports on the VIPs whose members come from the pool of a MachineLoadBalancer.
 * @param pools members by VIP (`10.0.0.100/32`)
 * @param drift what keeps the data plane from being as the router wants it
 * @param hindrance what keeps this load balancer from carrying a VIP
 */
export function instanceReports(
  { vips, kubernetes }: RouterConfig,
  pools: ReadonlyMap<string, { members(): readonly MemberView[] }>,
  drift: string | undefined,
  hindrance: (vip: string) => string | undefined,
): readonly LoadBalancerReport[] {
  const namespace = kubernetes?.instance?.namespace;
  const reports = new Map<string, LoadBalancerReport>();
  for (const { address, members } of vips) {
    const { configMap } = members;
    if (configMap?.namespace !== namespace || !configMap?.name.startsWith(POOL)) continue;
    const name = configMap.name.slice(POOL.length);
    const [vip, pool] = [...pools].find(([one]) => one.split('/')[0] === address) ?? [];
    const before = reports.get(name);
    const known = before?.members ?? [];
    const wrong = (vip === undefined ? undefined : hindrance(vip)) ?? drift ?? before?.drift;
    const own = (pool?.members() ?? []).filter(
      (one) => !known.some((other) => other.address === one.nextHop),
    );
    reports.set(name, {
      name,
      // One of two families that does not is told by its reason; clients may come by the other one.
      answers: before?.answers === true || (vip !== undefined && hindrance(vip) === undefined),
      ...(wrong === undefined ? {} : { drift: wrong.slice(0, LONGEST_REASON) }),
      members: [...known, ...own.map(memberReport)].slice(0, MOST_MEMBERS),
    });
  }
  // No more than VIPs, of which a configuration has 64 at most.
  return [...reports.values()];
}

function memberReport({
  name,
  nextHop,
  health,
  state,
  reason,
}: MemberView): LoadBalancerReport['members'][number] {
  const healthy = health === 'passing';
  const why = reason === '' ? (health === 'unknown' ? 'not checked yet' : 'its health check fails') : reason;
  return {
    ...{ name, address: nextHop, healthy, draining: state === 'draining' },
    ...(healthy ? {} : { reason: why.slice(0, LONGEST_REASON) }),
  };
}
