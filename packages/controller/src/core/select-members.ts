import { isIP } from 'node:net';
import type { KubernetesObject } from '@bgp-lb/kubernetes';
import { LONGEST_ZONE, type MachineLoadBalancerSpec } from '../api/machine-load-balancer.ts';
import { listAt, textAt } from './read-json.ts';

export const CLUSTER_LABEL = 'cluster.x-k8s.io/cluster-name';
/** The zone of a Node; the second one is dead since Kubernetes 1.17, and read last. */
const ZONE_LABELS = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'] as const;

/** A member that the spec asks for. */
export interface SelectedMember {
  readonly name: string;
  /** `undefined` where there is none of the wanted type and family. */
  readonly address: string | undefined;
  readonly port: number | undefined;
  readonly zone: string | undefined;
  /** Why it is to drain; `undefined`: it is not. */
  readonly drain: string | undefined;
}

type Selector = NonNullable<MachineLoadBalancerSpec['machineSelector']>;

/** metav1.LabelSelector. */
function matches(selector: Selector, labels: Readonly<Record<string, string>>): boolean {
  const hasLabels = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return (
    hasLabels &&
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      const isIn = value !== undefined && values.includes(value);
      return isIn === (operator === 'In');
    })
  );
}

/** Whether a Machine or Node is a member, drained ones included. */
export function isSelected(spec: MachineLoadBalancerSpec, object: KubernetesObject): boolean {
  const { labels = {} } = object.metadata;
  const { machineSelector, clusterNames = [], source } = spec;
  if (source === 'Static' || machineSelector === undefined || !matches(machineSelector, labels)) return false;
  return (
    source !== 'Machine' || clusterNames.length === 0 || clusterNames.includes(labels[CLUSTER_LABEL] ?? '')
  );
}

/**
 * Members by name, those in order of their names first that a list with a limit takes.
 */
export function selectMembers(
  spec: MachineLoadBalancerSpec,
  vip: string | undefined,
  candidates: readonly KubernetesObject[],
): readonly SelectedMember[] {
  if (spec.source === 'Static') {
    return (spec.members ?? []).map(({ name, address, port, zone }) => {
      const isUsable = vip === undefined || isIP(vip) === 0 || isIP(vip) === isIP(address);
      return { name, address: isUsable ? address : undefined, port, zone, drain: undefined };
    });
  }
  return candidates
    .filter((object) => isSelected(spec, object))
    .map((object) => ({
      name: object.metadata.name,
      address: addressOf(object, spec.addressType, vip),
      port: undefined,
      zone: zoneOf(object),
      drain: drainReason(object, spec.drain.keys ?? []),
    }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** The first address of the wanted type, in the family of the VIP where that is known. */
function addressOf(object: KubernetesObject, type: string, vip: string | undefined): string | undefined {
  const family = vip === undefined ? 0 : isIP(vip);
  return (
    listAt(object, 'status', 'addresses')
      .filter((one) => one['type'] === type)
      .flatMap((one) => textAt(one, 'address') ?? [])
      // One with the zone of a link (RFC 4007) means something on its own host alone.
      .find(
        (address) =>
          isIP(address) !== 0 && !address.includes('%') && (family === 0 || isIP(address) === family),
      )
  );
}

/** Cluster API v1beta2 says it in the status of the Machine, v1beta1 in its spec, of any length; a Node by its labels. */
function zoneOf(object: KubernetesObject): string | undefined {
  const { labels = {} } = object.metadata;
  return [
    textAt(object, 'status', 'failureDomain'),
    textAt(object, 'spec', 'failureDomain'),
    ...ZONE_LABELS.map((label) => labels[label]),
  ].find((zone) => zone !== undefined && zone !== '' && zone.length <= LONGEST_ZONE);
}

/** Labels or annotations that drain a member, with any value but `false`. */
const DRAIN_KEY = 'bgp-lb.dev/drain';
/** KubeadmControlPlane of Cluster API marked a Machine so that it was about to replace (v1alpha3). */
const UPGRADE_KEY = 'kubeadm.controlplane.cluster.x-k8s.io/selected-for-upgrade';

/**
 * Why a member is to drain. Not `node.kubernetes.io/exclude-from-external-load-balancers`, which kubeadm sets on every master.
 */
function drainReason({ metadata }: KubernetesObject, more: readonly string[]): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return 'it is being deleted';
  for (const key of [DRAIN_KEY, UPGRADE_KEY, ...more]) {
    for (const values of [metadata.labels, metadata.annotations]) {
      const value = values?.[key];
      if (value !== undefined && value !== 'false') return `it has ${key}`;
    }
  }
  return undefined;
}
