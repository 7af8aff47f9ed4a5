import { type KubernetesObject, kubernetesObject } from '@bgp-lb/kubernetes';
import { API_VERSION, GROUP } from '../api/group.ts';
import type { Snapshot } from '../core/snapshot.ts';

/** 2026-06-01T12:00:00Z. */
export const NOON: number = Date.parse('2026-06-01T12:00:00Z');
export const at = (seconds: number): string =>
  new Date(NOON + seconds * 1_000).toISOString().replace('.000', '');

type Json = Readonly<Record<string, unknown>>;

export function object(kind: string, name: string, more: Json, metadata: Json = {}): KubernetesObject {
  return kubernetesObject({
    apiVersion: API_VERSION,
    kind,
    ...more,
    metadata: {
      namespace: 'fleet',
      name,
      uid: `uid-${name}`,
      resourceVersion: '7',
      generation: 1,
      ...metadata,
    },
  });
}

const selector = { matchLabels: { 'cluster.x-k8s.io/control-plane': '' } };

/** A MachineLoadBalancer `prod` of a BGPLoadBalancer `prod` for 10.0.0.100. */
export function loadBalancer(spec: Json = {}, status?: unknown, metadata: Json = {}): KubernetesObject {
  const base = {
    vip: '10.0.0.100',
    machineSelector: selector,
    providerRef: { apiGroup: GROUP, kind: 'BGPLoadBalancer', name: 'prod' },
  };
  const merged = Object.fromEntries(
    Object.entries({ ...base, ...spec }).filter(([, value]) => value !== undefined),
  );
  return object(
    'MachineLoadBalancer',
    'prod',
    { spec: merged, ...(status === undefined ? {} : { status }) },
    metadata,
  );
}

export function machine(number: number, more: Json = {}, metadata: Json = {}): KubernetesObject {
  const labels = { 'cluster.x-k8s.io/control-plane': '', 'cluster.x-k8s.io/cluster-name': 'prod' };
  return object(
    'Machine',
    `m${number}`,
    { status: { addresses: [{ type: 'InternalIP', address: `10.0.0.${10 + number}` }], ...more } },
    { labels, ...metadata },
  );
}

/** What an LB host says of machines by their numbers: healthy, or why not. */
export function instance(
  name: string,
  members: Readonly<Record<number, true | string>>,
  more: Json = {},
  of: Json = {},
): KubernetesObject {
  return object('LoadBalancerInstance', name, {
    spec: { providers: [{ kind: 'BGPLoadBalancer', name: 'prod' }] },
    status: {
      heartbeat: at(0),
      loadBalancers: [
        {
          name: 'prod',
          answers: true,
          members: Object.entries(members).map(([number, said]) => ({
            name: `m${number}`,
            address: `10.0.0.${10 + Number(number)}`,
            healthy: said === true,
            ...(said === true ? {} : { reason: said }),
            ...of,
          })),
          ...more,
        },
      ],
    },
  });
}

export function snapshot(
  parts: Partial<Omit<Snapshot, 'instances'>> & { instances?: readonly KubernetesObject[] },
): Snapshot {
  const { instances = [], ...more } = parts;
  return {
    now: NOON,
    loadBalancer: loadBalancer(),
    candidates: [],
    clusters: [],
    infraCluster: undefined,
    provider: object('BGPLoadBalancer', 'prod', { spec: {} }),
    pool: undefined,
    ...more,
    instances: instances.map((one) => ({ object: one, silentMs: 1_000 })),
  };
}
