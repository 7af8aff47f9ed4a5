import type { ApiRequest } from './api-request.ts';

/** A rule of RBAC (PolicyRule), in one namespace or in all. */
export interface AccessRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[] | undefined;
  readonly namespace?: string | undefined;
}

/** @param name of the object, or of the field selector of a list or watch */
export function isAllowed(
  rules: readonly AccessRule[],
  request: ApiRequest,
  name: string | undefined,
): boolean {
  const { verb, group, resource, subresource, namespace } = request;
  const asked = subresource === undefined ? resource : `${resource}/${subresource}`;
  const has = (list: readonly string[], one: string): boolean => list.includes('*') || list.includes(one);
  return rules.some(
    (rule) =>
      has(rule.verbs, verb) &&
      has(rule.apiGroups, group) &&
      has(rule.resources, asked) &&
      (rule.namespace === undefined || rule.namespace === namespace) &&
      // Of a collection the name is not known, and a rule with names never matches it.
      (rule.resourceNames === undefined || (name !== undefined && rule.resourceNames.includes(name))),
  );
}

type Json = Readonly<Record<string, unknown>>;
interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** Rules of a service account by the Roles and bindings that the server has. @param list objects of a collection */
export function rulesOf(
  account: { readonly namespace: string; readonly name: string },
  list: (path: string) => readonly Json[],
): readonly AccessRule[] {
  const path = '/apis/rbac.authorization.k8s.io/v1';
  const bindings = [...list(`${path}/rolebindings`), ...list(`${path}/clusterrolebindings`)];
  return bindings.flatMap((binding) => {
    const { namespace } = binding['metadata'] as { readonly namespace?: string };
    const subjects = (binding['subjects'] ?? []) as readonly Subject[];
    const isMeant = subjects.some(
      (one) =>
        one.kind === 'ServiceAccount' && one.name === account.name && one.namespace === account.namespace,
    );
    if (!isMeant) return [];
    const ref = binding['roleRef'] as { readonly kind: string; readonly name: string };
    const role = list(`${path}/${ref.kind === 'Role' ? 'roles' : 'clusterroles'}`).find((one) => {
      const metadata = one['metadata'] as { readonly name: string; readonly namespace?: string };
      return metadata.name === ref.name && (ref.kind !== 'Role' || metadata.namespace === namespace);
    });
    return ((role?.['rules'] ?? []) as readonly AccessRule[]).map((rule) =>
      namespace === undefined ? rule : { ...rule, namespace },
    );
  });
}
