/**
 * What the credentials of `drain.annotation` need, and no more: list and watch of one Node. For these verbs RBAC looks at
 * resourceNames only where the request has the field selector metadata.name, which all of ours have (Kubernetes, "Using RBAC
 * Authorization", "Referring to resources"). No get: it is never asked.
 */
export function annotationRbac(node: string): object {
  const name = `bgp-lb-speaker:${node}`;
  const metadata = { name, labels: { 'app.kubernetes.io/name': 'bgp-lb-speaker' } };
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata,
        rules: [{ apiGroups: [''], resources: ['nodes'], resourceNames: [node], verbs: ['list', 'watch'] }],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
      },
    ],
  };
}
