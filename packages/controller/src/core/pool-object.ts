import type { KubernetesObject } from '@bgp-lb/kubernetes';
import { parse, stringify } from 'yaml';
import { API_VERSION } from '../api/group.ts';
import { textAt, valueAt } from './read-json.ts';
import type { Apply } from './snapshot.ts';

/** One member as LB hosts read it. */
export interface PoolMember {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly zone?: string | undefined;
  readonly draining: boolean;
}

/** What every pool has: the controller follows no other ConfigMaps. */
export const POOL_LABEL = 'bgp-lb.dev/pool';

/** The key of the ConfigMap. */
const KEY = 'pool.yaml';

export function poolName(loadBalancer: string): string {
  return `bgp-lb-pool-${loadBalancer}`;
}

/** Whether a ConfigMap of this name is written by something else: it is left alone. */
export function isForeignPool(current: KubernetesObject | undefined): boolean {
  return current !== undefined && current.metadata.labels?.[POOL_LABEL] === undefined;
}

/**
 * What makes the ConfigMap as it is to be; `undefined` where it is so. A pool is not emptied: LB hosts would not obey it, and their
 * checks know better what can still be used.
 */
export function poolApply(
  owner: KubernetesObject,
  members: readonly PoolMember[],
  current: KubernetesObject | undefined,
): Apply | undefined {
  if (members.length === 0 || isForeignPool(current)) return undefined;
  const before = parsed(textAt(current, 'data', KEY));
  const wanted = members.map(({ zone, ...one }) => (zone === undefined ? one : { ...one, zone }));
  if (JSON.stringify(valueAt(before, 'members')) === JSON.stringify(wanted)) return undefined;
  const generation = valueAt(before, 'generation');
  const pool = {
    apiVersion: API_VERSION,
    kind: 'Pool',
    generation: typeof generation === 'number' && Number.isSafeInteger(generation) ? generation + 1 : 1,
    members: wanted,
  };
  const { name, namespace = '', uid } = owner.metadata;
  return {
    what: 'pool',
    target: {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: poolName(name) },
      uid: current?.metadata.uid,
    },
    isStatus: false,
    fields: {
      metadata: {
        labels: { [POOL_LABEL]: '' },
        ownerReferences: [
          {
            apiVersion: API_VERSION,
            kind: 'MachineLoadBalancer',
            name,
            uid,
            controller: true,
            blockOwnerDeletion: false,
          },
        ],
      },
      data: { [KEY]: stringify(pool) },
    },
  };
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : parse(text, { maxAliasCount: 0 });
  } catch {
    // Written by hand into nonsense: it is written again.
    return undefined;
  }
}
