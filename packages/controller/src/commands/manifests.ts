import { GROUP, RESOURCES } from '../api/group.ts';
import { customResourceDefinitions } from '../crd/custom-resources.ts';

const NAME = 'bgp-lb-controller';
const labels = { 'app.kubernetes.io/name': NAME };
const READ = ['get', 'list', 'watch'];

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** What the controller may do in the namespaces that it looks at. */
export const controllerRules: readonly Rule[] = [
  { apiGroups: [GROUP], resources: Object.values(RESOURCES), verbs: READ },
  {
    apiGroups: [GROUP],
    resources: Object.values(RESOURCES)
      .filter((resource) => resource !== RESOURCES.LoadBalancerInstance)
      .map((resource) => `${resource}/status`),
    verbs: ['patch'],
  },
  { apiGroups: ['cluster.x-k8s.io'], resources: ['machines', 'clusters'], verbs: [...READ, 'patch'] },
  { apiGroups: [''], resources: ['configmaps'], verbs: [...READ, 'create', 'patch'] },
  { apiGroups: [''], resources: ['events'], verbs: ['create'] },
];

/** Nodes are in no namespace. */
const nodeRules: readonly Rule[] = [{ apiGroups: [''], resources: ['nodes'], verbs: READ }];

const leaseRules: readonly Rule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: [NAME],
    verbs: ['get', 'update'],
  },
];

export interface ManifestsOptions {
  /** Where the controller runs. */
  readonly home: string;
  /** The only namespace that it looks at; all where it is undefined. */
  readonly namespace: string | undefined;
  readonly image: string;
  readonly watchFilter: string | undefined;
}

/** Everything that runs the controller: namespace, CRDs, least rights, and two replicas without any privilege. */
export function manifests(options: ManifestsOptions): readonly object[] {
  const { home, namespace } = options;
  return [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: home, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    },
    ...customResourceDefinitions(),
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: home, name: NAME } },
    ...role('ClusterRole', `${NAME}-nodes`, undefined, nodeRules, home),
    ...role(namespace === undefined ? 'ClusterRole' : 'Role', NAME, namespace, controllerRules, home),
    ...role('Role', `${NAME}-lease`, home, leaseRules, home),
    // For infrastructure clusters and providers of others: their ClusterRoles join by this label.
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: `${NAME}-providers` },
      aggregationRule: {
        clusterRoleSelectors: [{ matchLabels: { 'bgp-lb.dev/aggregate-to-controller': 'true' } }],
      },
      rules: [],
    },
    binding('ClusterRole', `${NAME}-providers`, undefined, home),
    deployment(options),
  ];
}

function role(
  kind: 'Role' | 'ClusterRole',
  name: string,
  namespace: string | undefined,
  rules: readonly Rule[],
  home: string,
): readonly object[] {
  const metadata = namespace === undefined ? { name } : { namespace, name };
  return [
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata, rules },
    binding(kind, name, namespace, home),
  ];
}

function binding(kind: string, name: string, namespace: string | undefined, home: string): object {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: `${kind}Binding`,
    metadata: namespace === undefined ? { name } : { namespace, name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
    subjects: [{ kind: 'ServiceAccount', namespace: home, name: NAME }],
  };
}

function deployment({ home, namespace, image, watchFilter }: ManifestsOptions): object {
  const probe = (path: string): object => ({ httpGet: { path, port: 'health' }, periodSeconds: 10 });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: home, name: NAME, labels },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: NAME,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 65_532,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          tolerations: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
          topologySpreadConstraints: [
            {
              ...{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
              labelSelector: { matchLabels: labels },
            },
          ],
          containers: [
            {
              name: 'controller',
              image,
              args: [
                'run',
                `--lease.namespace=${home}`,
                '--api.socket=/run/bgp-lb/controller.sock',
                ...(namespace === undefined ? [] : [`--namespace=${namespace}`]),
                ...(watchFilter === undefined ? [] : [`--watchFilter=${watchFilter}`]),
              ],
              env: [
                { name: 'BGP_LB_LEASE_IDENTITY', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
              ],
              ports: [{ name: 'health', containerPort: 9476 }],
              livenessProbe: probe('/healthz'),
              readinessProbe: probe('/readyz'),
              resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '384Mi' } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
              volumeMounts: [{ name: 'run', mountPath: '/run/bgp-lb' }],
            },
          ],
          volumes: [{ name: 'run', emptyDir: { medium: 'Memory' } }],
        },
      },
    },
  };
}
