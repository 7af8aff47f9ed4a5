import { formatHostPort } from '@bgp-lb/daemon';
import type { KubernetesObject } from '@bgp-lb/kubernetes';
import type { Finding } from './conditions.ts';
import { listAt, textAt, valueAt } from './read-json.ts';
import type { Apply, EventText, Snapshot } from './snapshot.ts';

/** Cluster API: the infrastructure of this Cluster is made by something else than its provider, which leaves the object alone. */
const MANAGED_BY = 'cluster.x-k8s.io/managed-by';

/** The API server, or what it asks, does not take the write. */
const REFUSED = 'PublishRefused';

type Parts = Pick<
  Snapshot,
  'clusters' | 'infraCluster' | 'infraUnreadable' | 'publishRefused' | 'loadBalancer'
>;

interface Published {
  readonly finding: Finding;
  readonly applies: readonly Apply[];
  readonly events: readonly EventText[];
}

interface Endpoint {
  readonly host: string;
  readonly port: number;
}

const text = ({ host, port }: Endpoint): string => formatHostPort({ host, port });

/** The endpoint of a Cluster or an InfraCluster; `undefined` while it is empty. */
function endpointOf(object: KubernetesObject): Endpoint | undefined {
  const host = textAt(object, 'spec', 'controlPlaneEndpoint', 'host');
  const port = valueAt(object, 'spec', 'controlPlaneEndpoint', 'port');
  return host === undefined ? undefined : { host, port: typeof port === 'number' ? port : 0 };
}

/**
 * Writes the endpoint where it is empty, once. What is there is never overwritten: each request holds the version of the object in
 * which it was empty.
 */
export function publish(
  cluster: string | undefined,
  endpoint: Endpoint | undefined,
  isProvisioned: boolean,
  { clusters, infraCluster, infraUnreadable, publishRefused, loadBalancer }: Parts,
): Published {
  const found = find(cluster, endpoint, isProvisioned, { clusters, infraCluster, infraUnreadable });
  if (publishRefused === undefined || found.applies.length === 0) return found;
  const message = refusalText(loadBalancer['status'], publishRefused);
  return { ...found, finding: { status: 'False', reason: REFUSED, message }, events: [] };
}

/** Of texts that differ in numbers alone (a port, a time) the one that is there: or else each attempt would change the status. */
function refusalText(previous: unknown, text: string): string {
  const before = listAt(previous, 'conditions').find((one) => one['type'] === 'EndpointPublished');
  const known = before?.['reason'] === REFUSED ? textAt(before, 'message') : undefined;
  const words = (one: string): string => one.replaceAll(/[0-9a-f]*[0-9][0-9a-f]*/g, '0');
  return known !== undefined && words(known) === words(text) ? known : text;
}

function find(
  cluster: string | undefined,
  endpoint: Endpoint | undefined,
  isProvisioned: boolean,
  { clusters, infraCluster, infraUnreadable }: Pick<Parts, 'clusters' | 'infraCluster' | 'infraUnreadable'>,
): Published {
  const waits = (reason: string, message: string): Published => ({
    finding: { status: 'False', reason, message },
    applies: [],
    events: [],
  });
  if (cluster === undefined) return waits('NotWanted', 'publishTo names no Cluster');
  const object = clusters.find(({ metadata }) => metadata.name === cluster);
  if (object === undefined)
    return waits('ClusterNotFound', `there is no Cluster ${cluster} in this namespace`);
  if (endpoint === undefined) return waits('NoEndpoint', 'there is no address to publish yet');
  const known = endpointOf(object);
  if (known !== undefined && text(known) !== text(endpoint)) return conflict(object, known, endpoint);
  if (infraUnreadable !== undefined)
    return waits(
      'InfraClusterNotReadable',
      `what infrastructureRef of Cluster ${cluster} names: ${infraUnreadable}`,
    );
  if (
    valueAt(object, 'spec', 'infrastructureRef') !== undefined &&
    known === undefined &&
    infraCluster === undefined
  )
    return waits(
      'InfraClusterNotFound',
      `what infrastructureRef of Cluster ${cluster} names is not known yet`,
    );
  const isOurs = infraCluster?.metadata.annotations?.[MANAGED_BY] !== undefined;
  if (infraCluster !== undefined && isOurs)
    return publishToInfra(infraCluster, endpoint, isProvisioned, waits);
  if (known !== undefined) return published(object, endpoint, []);
  if (!isProvisioned) return waits('NotProvisioned', 'nothing answers for the address yet');
  return published(object, endpoint, [endpointApply(object, endpoint)]);
}

function publishToInfra(
  infra: KubernetesObject,
  endpoint: Endpoint,
  isProvisioned: boolean,
  waits: (reason: string, message: string) => Published,
): Published {
  const known = endpointOf(infra);
  if (known !== undefined && text(known) !== text(endpoint)) return conflict(infra, known, endpoint);
  const isMarked = valueAt(infra, 'status', 'initialization', 'provisioned') === true;
  if (known !== undefined && isMarked) return published(infra, endpoint, []);
  if (!isProvisioned) return waits('NotProvisioned', 'nothing answers for the address yet');
  return published(infra, endpoint, [
    ...(known === undefined ? [endpointApply(infra, endpoint)] : []),
    {
      what: 'provisioned',
      target: targetOf(infra),
      isStatus: true,
      fields: { status: { initialization: { provisioned: true } } },
    },
  ]);
}

function targetOf(object: KubernetesObject): Apply['target'] {
  const { name, namespace = '', uid } = object.metadata;
  return { apiVersion: String(object['apiVersion']), kind: String(object['kind']), namespace, name, uid };
}

function endpointApply(object: KubernetesObject, { host, port }: Endpoint): Apply {
  return {
    what: 'endpoint',
    target: { ...targetOf(object), resourceVersion: object.metadata.resourceVersion },
    isStatus: false,
    fields: { spec: { controlPlaneEndpoint: { host, port } } },
  };
}

function nameOf(object: KubernetesObject): string {
  return `${String(object['kind'])} ${object.metadata.name}`;
}

function published(object: KubernetesObject, endpoint: Endpoint, applies: readonly Apply[]): Published {
  const message = `${nameOf(object)} has ${text(endpoint)}`;
  return {
    finding: { status: 'True', reason: 'Published', message },
    applies,
    events: applies.length === 0 ? [] : [{ type: 'Normal', reason: 'EndpointPublished', message }],
  };
}

function conflict(object: KubernetesObject, known: Endpoint, wanted: Endpoint): Published {
  const message = `${nameOf(object)} has ${text(known)} already, not ${text(wanted)}; it is left alone`;
  return { finding: { status: 'False', reason: 'EndpointConflict', message }, applies: [], events: [] };
}
