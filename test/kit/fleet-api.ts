/** A management cluster's API server, the stand-in, in a namespace of a test: with what `bgp-lb-controller manifests` prints, and Cluster API's kinds. */
import { definitionOf, StandInApiServer } from '@bgp-lb/kubernetes/testing';

export const NAMESPACE = 'fleet';
const OWN = `/apis/bgp-lb.dev/v1alpha1/namespaces/${NAMESPACE}`;
const MACHINES = `/apis/cluster.x-k8s.io/v1beta2/namespaces/${NAMESPACE}/machines`;
const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];

type Json = Readonly<Record<string, unknown>>;
interface Manifest extends Json {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

let server: StandInApiServer | undefined;

function api(): StandInApiServer {
  if (server === undefined) throw new Error('the API server was not started');
  return server;
}

/** Starts it. The token `admin` may do everything. */
export async function start(options: {
  readonly key: string;
  readonly cert: string;
  readonly host: string;
  readonly port: number;
}): Promise<void> {
  const { host, port, ...tls } = options;
  server = new StandInApiServer(tls);
  server.allowRules('admin', everything);
  for (const [kind, plural] of [
    ['Machine', 'machines'],
    ['Cluster', 'clusters'],
  ] as const)
    server.define({ group: 'cluster.x-k8s.io', version: 'v1beta2', kind, plural, hasStatus: true });
  await server.listen(port, host);
}

export async function stop(): Promise<void> {
  await server?.close();
}

/** `kubectl apply` of what is printed. */
export function apply(objects: readonly object[]): void {
  for (const object of objects as readonly Manifest[]) {
    const { apiVersion, kind, metadata } = object;
    if (kind === 'CustomResourceDefinition') api().define(definitionOf(object));
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const place = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
    api().write('POST', `${root}${place}/${kind.toLowerCase()}s`, object);
  }
}

export function machine({ name, address }: { readonly name: string; readonly address: string }): void {
  const labels = { 'cluster.x-k8s.io/control-plane': '', 'cluster.x-k8s.io/cluster-name': 'prod' };
  api().write('POST', MACHINES, {
    ...{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', spec: {} },
    metadata: { namespace: NAMESPACE, name, labels },
  });
  const addresses = [{ type: 'InternalIP', address }];
  api().write('PATCH', `${MACHINES}/${name}/status`, { status: { addresses } });
}

/** Sets a label of a Machine, or takes it away. */
export function label({ name, value }: { readonly name: string; readonly value: string | null }): void {
  api().write('PATCH', `${MACHINES}/${name}`, { metadata: { labels: { 'bgp-lb.dev/drain': value } } });
}

export function loadBalancer(vip: string): void {
  const metadata = { namespace: NAMESPACE, name: 'prod' };
  const head = { apiVersion: 'bgp-lb.dev/v1alpha1', metadata };
  api().write('POST', `${OWN}/bgploadbalancers`, { ...head, kind: 'BGPLoadBalancer', spec: {} });
  api().write('POST', `${OWN}/machineloadbalancers`, {
    ...{ ...head, kind: 'MachineLoadBalancer' },
    spec: {
      vip,
      machineSelector: { matchLabels: { 'cluster.x-k8s.io/control-plane': '' } },
      providerRef: { apiGroup: 'bgp-lb.dev', kind: 'BGPLoadBalancer', name: 'prod' },
    },
  });
}

/** The status of the MachineLoadBalancer. */
export function status(): Json {
  return (api().object(`${OWN}/machineloadbalancers`, 'prod')?.['status'] ?? {}) as Json;
}

/** Writes of this token so far, without those to leases. */
export function writes(token: string): number {
  return api().written.filter((one) => one.token === token && !one.path.includes('/leases')).length;
}

/** Who holds the lease of the controller. */
export function holder(): unknown {
  const lease = api().object(
    '/apis/coordination.k8s.io/v1/namespaces/bgp-lb-system/leases',
    'bgp-lb-controller',
  );
  return (lease?.['spec'] as { readonly holderIdentity?: unknown } | undefined)?.holderIdentity;
}

/** Messages of the events with this reason. */
export function events(reason: string): string[] {
  return api()
    .objects(`/api/v1/namespaces/${NAMESPACE}/events`)
    .filter((one) => one['reason'] === reason)
    .map((one) => String(one['message']));
}
