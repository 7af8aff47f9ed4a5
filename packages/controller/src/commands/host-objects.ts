import { API_VERSION, GROUP, RESOURCES } from '../api/group.ts';
import { poolName } from '../core/pool-object.ts';

export interface HostObjectsOptions {
  readonly namespace: string;
  /** The LB host, and its LoadBalancerInstance. */
  readonly name: string;
  readonly provider: { readonly kind: string; readonly name: string };
  /** MachineLoadBalancers whose pools it reads. */
  readonly loadBalancers: readonly string[];
}

/** What gives one LB host its rights, each with the path of its collection: its pools, its own object, and no more. */
export function hostObjects(
  options: HostObjectsOptions,
): readonly { readonly path: string; readonly object: object }[] {
  const { namespace, name, provider, loadBalancers } = options;
  const account = `bgp-lb-host-${name}`;
  const metadata = { namespace, name: account };
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  return [
    {
      path: `/apis/${API_VERSION}/namespaces/${namespace}/${RESOURCES.LoadBalancerInstance}/${name}`,
      object: {
        apiVersion: API_VERSION,
        kind: 'LoadBalancerInstance',
        metadata: { namespace, name },
        spec: { providers: [provider] },
      },
    },
    {
      path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}`,
      object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    },
    {
      path: `${rbac}/roles/${account}`,
      object: {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata,
        rules: [
          {
            apiGroups: [''],
            resources: ['configmaps'],
            resourceNames: loadBalancers.map(poolName),
            verbs: ['list', 'watch'],
          },
          {
            apiGroups: [GROUP],
            resources: [`${RESOURCES.LoadBalancerInstance}/status`],
            resourceNames: [name],
            verbs: ['patch'],
          },
        ],
      },
    },
    {
      path: `${rbac}/rolebindings/${account}`,
      object: {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: account },
        subjects: [{ kind: 'ServiceAccount', namespace, name: account }],
      },
    },
  ];
}
