import { type ApiClient, type Clock, isJsonObject, type KubernetesObject } from '@bgp-lb/kubernetes';
import { GROUP, RESOURCES } from '../api/group.ts';
import { POOL_LABEL, poolName } from '../core/pool-object.ts';
import { textAt, valueAt } from '../core/read-json.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { InstanceSilence } from './instance-silence.ts';
import { ObjectCache } from './object-cache.ts';
import { collectionPath, discover, type Resource } from './resource-discovery.ts';

export const CAPI = 'cluster.x-k8s.io';
/** Milliseconds after which a kind that was not there is asked for again. */
const ASK_AGAIN = 30_000;

export interface ClusterViewOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly wallClock: () => number;
  /** All namespaces where it is undefined. */
  readonly namespace: string | undefined;
  readonly changed: (
    group: string,
    kind: string,
    before: KubernetesObject | undefined,
    after: KubernetesObject | undefined,
  ) => void;
  readonly synced: () => void;
  readonly failed: (error: unknown) => void;
}

/** What is known of one kind: `undefined` resource for one that the API does not have. */
interface Followed {
  readonly resource: Resource | undefined;
  readonly cache: ObjectCache | undefined;
}

/** Objects of a kind that may be there: the API server does not list them. */
interface Unreadable {
  readonly why: string;
}

/** All objects that decide, as the API tells them. Kinds of others are followed from when they are asked for. */
export class ClusterView {
  readonly #options: ClusterViewOptions;
  readonly #followed = new Map<string, Followed>();
  readonly #asking = new Set<string>();
  /** Kinds that the API server was asked for, and why it has not answered. */
  readonly #undiscovered = new Map<string, string>();
  readonly #silence: InstanceSilence;
  #isClosed = false;

  constructor(options: ClusterViewOptions) {
    this.#options = options;
    const { clock, wallClock, changed } = options;
    this.#silence = new InstanceSilence({
      ...{ clock, wallClock },
      turned: (key) => {
        const [namespace = '', name = ''] = key.split('/');
        const instance = this.#cache(GROUP, 'LoadBalancerInstance')?.get(namespace, name);
        changed(GROUP, 'LoadBalancerInstance', undefined, instance);
      },
    });
  }

  start(): void {
    for (const kind of Object.keys(RESOURCES)) this.#follow(GROUP, kind);
    this.#follow('', 'ConfigMap');
    this.#follow(CAPI, 'Machine');
    this.#follow(CAPI, 'Cluster');
  }

  close(): void {
    this.#isClosed = true;
    for (const { cache } of this.#followed.values()) cache?.close();
    this.#silence.close();
  }

  /** Why not all that every decision needs is known; `undefined`: it is. */
  get missing(): string | undefined {
    const keys = [
      ...Object.keys(RESOURCES).map((kind) => `${GROUP}/${kind}`),
      '/ConfigMap',
      `${CAPI}/Machine`,
      `${CAPI}/Cluster`,
    ];
    const open = keys.find((key) => {
      const followed = this.#followed.get(key);
      return followed === undefined || followed.cache?.isSynced === false;
    });
    if (open === undefined) return undefined;
    const error = this.#followed.get(open)?.cache?.status.error;
    return `${open.replace(/^\//, '')} is not listed yet${error === undefined ? '' : `: ${error}`}`;
  }

  loadBalancer(namespace: string, name: string): KubernetesObject | undefined {
    return this.#cache(GROUP, 'MachineLoadBalancer')?.get(namespace, name);
  }

  loadBalancers(namespace?: string): readonly KubernetesObject[] {
    const cache = this.#cache(GROUP, 'MachineLoadBalancer');
    return (namespace === undefined ? cache?.all() : cache?.list(namespace)) ?? [];
  }

  machine(namespace: string, name: string): KubernetesObject | undefined {
    return this.#cache(CAPI, 'Machine')?.get(namespace, name);
  }

  machines(namespace?: string): readonly KubernetesObject[] {
    const cache = this.#cache(CAPI, 'Machine');
    return (namespace === undefined ? cache?.all() : cache?.list(namespace)) ?? [];
  }

  clusters(namespace: string): readonly KubernetesObject[] {
    return this.#cache(CAPI, 'Cluster')?.list(namespace) ?? [];
  }

  /** Where objects of a kind are written. */
  resource(group: string, kind: string): Resource | undefined {
    return this.#followed.get(`${group}/${kind}`)?.resource;
  }

  wrote(group: string, kind: string, object: KubernetesObject): void {
    this.#cache(group, kind)?.wrote(object);
  }

  /** All that decides on one MachineLoadBalancer; `undefined` while something of it is not known yet. */
  snapshot(loadBalancer: KubernetesObject): Snapshot | undefined {
    const { namespace = '', name } = loadBalancer.metadata;
    const ref = valueAt(loadBalancer, 'spec', 'providerRef');
    const source = valueAt(loadBalancer, 'spec', 'source');
    const providers = this.#named(ref);
    const members = source === 'Node' ? this.#ask('', 'Node') : this.#ask(CAPI, 'Machine');
    // Without them there is nothing that could be said.
    const known = 'why' in Object(members) ? 'unknown' : members;
    const candidates = source === 'Static' ? 'nothing' : known;
    const clusters = this.clusters(namespace);
    const cluster = clusters.find(
      ({ metadata }) => metadata.name === textAt(loadBalancer, 'spec', 'publishTo', 'name'),
    );
    const infra = this.#named(valueAt(cluster, 'spec', 'infrastructureRef'));
    if ([providers, candidates, infra].includes('unknown')) return undefined;
    const whyNot = (found: ObjectCache | Unreadable | string): string | undefined =>
      typeof found === 'object' && 'why' in found ? found.why : undefined;
    const objectOf = (found: ObjectCache | Unreadable | string, at: unknown): KubernetesObject | undefined =>
      typeof found === 'string' || 'why' in found
        ? undefined
        : found.get(namespace, textAt(at, 'name') ?? '');
    const { wallClock } = this.#options;
    const instances = this.#cache(GROUP, 'LoadBalancerInstance')?.list(namespace) ?? [];
    return {
      now: wallClock(),
      loadBalancer,
      candidates:
        typeof candidates === 'string' || 'why' in candidates
          ? []
          : source === 'Node'
            ? candidates.all()
            : candidates.list(namespace),
      clusters,
      infraCluster: objectOf(infra, valueAt(cluster, 'spec', 'infrastructureRef')),
      infraUnreadable: whyNot(infra),
      provider: objectOf(providers, ref),
      providerUnreadable: whyNot(providers),
      instances: instances.map((one) => this.#silence.seen(`${namespace}/${one.metadata.name}`, one)),
      pool: this.#cache('', 'ConfigMap')?.get(namespace, poolName(name)),
    };
  }

  /** The objects of a kind that a reference names: `nothing` where there are none, `unknown` while that is not known. */
  #named(ref: unknown): ObjectCache | Unreadable | 'nothing' | 'unknown' {
    if (!isJsonObject(ref)) return 'nothing';
    const kind = textAt(ref, 'kind');
    // v1beta2 of Cluster API names the group, v1beta1 the version as well.
    const group = textAt(ref, 'apiGroup') ?? textAt(ref, 'apiVersion')?.split('/')[0];
    return kind === undefined || group === undefined ? 'nothing' : this.#ask(group, kind);
  }

  #ask(group: string, kind: string): ObjectCache | Unreadable | 'nothing' | 'unknown' {
    const key = `${group}/${kind}`;
    const followed = this.#followed.get(key);
    if (followed === undefined) {
      this.#follow(group, kind);
      const why = this.#undiscovered.get(key);
      return why === undefined ? 'unknown' : { why };
    }
    if (followed.cache === undefined) return 'nothing';
    if (followed.cache.isSynced) return followed.cache;
    const why = followed.cache.status.error;
    return why === undefined ? 'unknown' : { why };
  }

  #cache(group: string, kind: string): ObjectCache | undefined {
    return this.#followed.get(`${group}/${kind}`)?.cache;
  }

  #follow(group: string, kind: string): void {
    const key = `${group}/${kind}`;
    if (this.#asking.has(key)) return;
    this.#asking.add(key);
    const { client, clock, failed } = this.#options;
    const again = (): void => {
      clock.after(ASK_AGAIN, () => {
        this.#asking.delete(key);
        if (!this.#isClosed) this.#follow(group, kind);
      });
    };
    discover(client, group, kind).then(
      (resource) => {
        if (this.#isClosed) return;
        this.#undiscovered.delete(key);
        if (resource === undefined) {
          this.#followed.set(key, { resource, cache: undefined });
          this.#synced();
          again();
          return;
        }
        const cache = this.#newCache(group, kind, resource);
        this.#followed.set(key, { resource, cache });
        cache.start();
      },
      (error: unknown) => {
        if (this.#isClosed) return;
        failed(error);
        this.#undiscovered.set(key, error instanceof Error ? error.message : String(error));
        clock.after(Math.min(ASK_AGAIN, 2_000), () => {
          this.#asking.delete(key);
          if (!this.#isClosed) this.#follow(group, kind);
        });
      },
    );
  }

  #newCache(group: string, kind: string, resource: Resource): ObjectCache {
    const { client, clock, failed, namespace, changed } = this.#options;
    const isInstance = group === GROUP && kind === 'LoadBalancerInstance';
    const path = collectionPath(resource, kind === 'Node' ? undefined : namespace);
    return new ObjectCache({
      ...{ client, clock, failed },
      selection: group === '' && kind === 'ConfigMap' ? { path, labelSelector: POOL_LABEL } : { path },
      synced: () => this.#synced(),
      changed: (before, after) => {
        const { namespace: place = '', name = '' } = (after ?? before)?.metadata ?? {};
        if (isInstance && after !== undefined) this.#silence.note(`${place}/${name}`, after);
        if (isInstance && after === undefined) this.#silence.forget(`${place}/${name}`);
        changed(group, kind, before, after);
      },
    });
  }

  #synced(): void {
    if (this.missing === undefined) this.#options.synced();
  }
}
