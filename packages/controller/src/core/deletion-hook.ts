import type { KubernetesObject } from '@bgp-lb/kubernetes';
import { listAt, valueAt } from './read-json.ts';
import { checkedSpec, pausedBy } from './reconcile.ts';
import { CLUSTER_LABEL, isSelected } from './select-members.ts';

/** Cluster API keeps a Machine that is being deleted while it has an annotation of this kind ("machine deletion phase hooks"). */
export const HOOK = 'pre-drain.delete.hook.machine.cluster.x-k8s.io/bgp-lb';

/**
 * Whether the hook has to come or to go, of one Machine: `undefined` where all is well. It is there from the start, since one that is
 * set after the deletion may come too late, and it is left behind by nothing: neither by a MachineLoadBalancer that is deleted, nor by
 * one that selects the Machine no more.
 * @param loadBalancers all of the namespace
 */
export function hookChange(
  machine: KubernetesObject,
  loadBalancers: readonly KubernetesObject[],
  clusters: readonly KubernetesObject[],
): 'set' | 'remove' | undefined {
  const isThere = machine.metadata.annotations?.[HOOK] !== undefined;
  const isDeleted = machine.metadata.deletionTimestamp !== undefined;
  const cluster = clusters.find(({ metadata }) => metadata.name === machine.metadata.labels?.[CLUSTER_LABEL]);
  if (valueAt(cluster, 'spec', 'paused') === true) return undefined;
  const holders = loadBalancers.filter((one) => wantsHook(one, machine));
  if (holders.some((loadBalancer) => pausedBy({ loadBalancer, clusters }) !== undefined)) return undefined;
  const isWanted = holders.some((one) => !isDeleted || !isDrained(one, machine.metadata.name));
  if (isWanted) return isThere || isDeleted ? undefined : 'set';
  return isThere ? 'remove' : undefined;
}

function wantsHook(loadBalancer: KubernetesObject, machine: KubernetesObject): boolean {
  if (loadBalancer.metadata.deletionTimestamp !== undefined) return false;
  const spec = checkedSpec(loadBalancer);
  if (typeof spec === 'string' || !spec.drain.hook || !isSelected(spec, machine)) return false;
  const { mode, name } = spec.zones;
  const known = listAt(loadBalancer, 'status', 'members').some(
    (one) => one['name'] === machine.metadata.name,
  );
  // Of one zone only: others are no members, which its status knows.
  return mode !== 'Only' || name === undefined || known;
}

function isDrained(loadBalancer: KubernetesObject, machine: string): boolean {
  const member = listAt(loadBalancer, 'status', 'members').find((one) => one['name'] === machine);
  return member?.['drained'] === true;
}
