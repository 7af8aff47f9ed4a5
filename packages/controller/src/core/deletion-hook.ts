import { parseDuration } from '@bgp-lb/daemon';
import type { KubernetesObject } from '@bgp-lb/kubernetes';
import { listAt, valueAt } from './read-json.ts';
import { checkedSpec, pausedBy } from './reconcile.ts';
import { CLUSTER_LABEL, isSelected } from './select-members.ts';

/** Cluster API keeps a Machine that is being deleted while it has an annotation of this kind ("machine deletion phase hooks"). */
export const HOOK = 'pre-drain.delete.hook.machine.cluster.x-k8s.io/bgp-lb';

/** Milliseconds beyond the timeout of a drain after which it is not waited for any more that its end is said. */
const MARGIN = 60_000;

/** What is to become of the hook of one Machine. */
interface HookDecision {
  /** `undefined`: it is as it has to be. */
  readonly change: 'set' | 'remove' | undefined;
  /** Milliseconds for which it may hold a deletion, whatever status says; `undefined`: it holds none, or nothing may be written. */
  readonly holdsFor: number | undefined;
}

/** What one MachineLoadBalancer wants. */
interface Wish {
  readonly loadBalancer: KubernetesObject;
  /** `undefined`: its status says nothing of any member yet. */
  readonly isMember: true | undefined;
  readonly isDrained: boolean;
  /** Milliseconds. */
  readonly timeout: number;
}

const nothing: HookDecision = { change: undefined, holdsFor: undefined };

/**
 * Whether the hook has to come or to go, of one Machine. It is there as soon as status has the member, since one that is set after the
 * deletion may come too late, and for those alone: the drain of others is judged by nothing. It is left behind by nothing: neither by
 * a MachineLoadBalancer that is deleted, nor by one that selects the Machine no more.
 * @param loadBalancers all of the namespace
 * @param isOurs whether this controller reconciles it; others hold a hook, which their controllers have set
 */
export function hookChange(
  machine: KubernetesObject,
  loadBalancers: readonly KubernetesObject[],
  clusters: readonly KubernetesObject[],
  isOurs: (loadBalancer: KubernetesObject) => boolean,
): HookDecision {
  const { annotations, labels, deletionTimestamp } = machine.metadata;
  const isThere = annotations?.[HOOK] !== undefined;
  const cluster = clusters.find(({ metadata }) => metadata.name === labels?.[CLUSTER_LABEL]);
  if (valueAt(cluster, 'spec', 'paused') === true) return nothing;
  const wishes = loadBalancers.flatMap((one) => wishOf(one, machine) ?? []);
  if (wishes.some(({ loadBalancer }) => pausedBy({ loadBalancer, clusters }) !== undefined)) return nothing;
  if (deletionTimestamp === undefined) {
    const isWanted = wishes.some(({ loadBalancer, isMember }) => isMember === true && isOurs(loadBalancer));
    if (isThere) return wishes.length === 0 ? { ...nothing, change: 'remove' } : nothing;
    return isWanted ? { ...nothing, change: 'set' } : nothing;
  }
  if (!isThere) return nothing;
  const open = wishes.filter(({ isDrained }) => !isDrained);
  if (open.length === 0) return { ...nothing, change: 'remove' };
  return { change: undefined, holdsFor: Math.max(...open.map(({ timeout }) => timeout)) + MARGIN };
}

function wishOf(loadBalancer: KubernetesObject, machine: KubernetesObject): Wish | undefined {
  if (loadBalancer.metadata.deletionTimestamp !== undefined) return undefined;
  const spec = checkedSpec(loadBalancer);
  if (typeof spec === 'string' || !spec.drain.hook || !isSelected(spec, machine)) return undefined;
  const timeout = parseDuration(spec.drain.timeout) ?? 0;
  if (!Array.isArray(valueAt(loadBalancer, 'status', 'members')))
    return { loadBalancer, isMember: undefined, isDrained: false, timeout };
  const member = listAt(loadBalancer, 'status', 'members').find(
    (one) => one['name'] === machine.metadata.name,
  );
  // Selected all the same: of another zone, or beyond what a pool takes.
  if (member === undefined) return undefined;
  return { loadBalancer, isMember: true, isDrained: member['drained'] === true, timeout };
}
