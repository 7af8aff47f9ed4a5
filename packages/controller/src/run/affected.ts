import { isJsonObject, type KubernetesObject } from '@bgp-lb/kubernetes';
import { GROUP } from '../api/group.ts';
import { HOOK } from '../core/deletion-hook.ts';
import { listAt, textAt, valueAt } from '../core/read-json.ts';
import { checkedSpec } from '../core/reconcile.ts';
import { CLUSTER_LABEL, isSelected } from '../core/select-members.ts';
import { CAPI } from './cluster-view.ts';

type Change = { readonly before: KubernetesObject | undefined; readonly after: KubernetesObject | undefined };

/** Whether one MachineLoadBalancer may be another one for this change of another object of its namespace. */
export function concerns(
  loadBalancer: KubernetesObject,
  group: string,
  kind: string,
  change: Change,
): boolean {
  const { before, after } = change;
  const names = [before?.metadata.name, after?.metadata.name];
  const spec = checkedSpec(loadBalancer);
  if (typeof spec === 'string') return false;
  if ((group === CAPI && kind === 'Machine') || (group === '' && kind === 'Node')) {
    return spec.source === kind && [before, after].some((one) => one !== undefined && isSelected(spec, one));
  }
  if (group === '' && kind === 'ConfigMap')
    return names.includes(`bgp-lb-pool-${loadBalancer.metadata.name}`);
  if (group === GROUP && kind === 'LoadBalancerInstance') {
    return [before, after].some((one) => serves(one, spec.providerRef));
  }
  if (group === CAPI && kind === 'Cluster') {
    return names.some(
      (name) => name === spec.publishTo?.name || name === loadBalancer.metadata.labels?.[CLUSTER_LABEL],
    );
  }
  const ref = spec.providerRef;
  if (ref.apiGroup === group && ref.kind === kind) return names.includes(ref.name);
  // An InfraCluster, of which only the Cluster knows whose it is.
  return spec.publishTo !== undefined;
}

/** Whether an LB host says something else: a heartbeat alone is no change. */
export function saysOther({ before, after }: Change): boolean {
  const content = (one: KubernetesObject | undefined): string =>
    JSON.stringify([one?.['spec'], valueAt(one, 'status', 'loadBalancers')]);
  return content(before) !== content(after);
}

function serves(
  instance: KubernetesObject | undefined,
  ref: { readonly kind: string; readonly name: string },
): boolean {
  return listAt(instance, 'spec', 'providers').some(
    (one) => one['kind'] === ref.kind && one['name'] === ref.name,
  );
}

/** Machines whose hook may have to come or go for a change of a MachineLoadBalancer. */
export function hooksConcerned(
  machines: readonly KubernetesObject[],
  { before, after }: Change,
): readonly KubernetesObject[] {
  const specs = [before, after].flatMap((one) => {
    const spec = one === undefined ? 'gone' : checkedSpec(one);
    return typeof spec !== 'string' && spec.drain.hook ? [spec] : [];
  });
  const had = [before, after].some((one) => valueAt(one, 'spec', 'drain', 'hook') === true);
  if (specs.length === 0 && !had) return [];
  return machines.filter(
    (machine) =>
      machine.metadata.annotations?.[HOOK] !== undefined || specs.some((spec) => isSelected(spec, machine)),
  );
}

/** Whether an object has the label by which several controllers share a cluster (Cluster API). */
export function isWatched(object: KubernetesObject, filter: string | undefined): boolean {
  return filter === undefined || object.metadata.labels?.['cluster.x-k8s.io/watch-filter'] === filter;
}

export function keyOf(object: KubernetesObject): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
}

export function kindOf(object: unknown): { readonly group: string; readonly kind: string } {
  const apiVersion = isJsonObject(object) ? (textAt(object, 'apiVersion') ?? '') : '';
  return {
    group: apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '',
    kind: textAt(object, 'kind') ?? '',
  };
}
