import {
  type ApiClient,
  ApiError,
  isJsonObject,
  type KubernetesObject,
  kubernetesObject,
} from '@bgp-lb/kubernetes';
import { rfc3339 } from '../core/conditions.ts';
import { HOOK } from '../core/deletion-hook.ts';
import type { Apply, EventText } from '../core/snapshot.ts';
import { collectionPath, type Resource } from './resource-discovery.ts';

/** Milliseconds for one write. */
const LIMIT = 15_000;
const CONFLICT = 409;

/** One manager for each kind of field, so that what one apply leaves out is not taken for a wish of another. */
const MANAGERS: Readonly<Record<Apply['what'], string>> = {
  status: 'bgp-lb-controller-status',
  'provider-status': 'bgp-lb-controller-status',
  pool: 'bgp-lb-controller-pool',
  endpoint: 'bgp-lb-controller-publish',
  provisioned: 'bgp-lb-controller-publish',
};

/** Objects of others are never forced: a field belongs to the manager that has set it. */
const OURS: ReadonlySet<Apply['what']> = new Set(['status', 'provider-status', 'pool']);

export interface ObjectWriterOptions {
  readonly client: ApiClient;
  /** @throws Error that says why nothing may be written */
  readonly checkLeader: () => void;
  readonly wrote: (what: string) => void;
  /** Name of this replica, for events. */
  readonly identity: string;
  readonly wallClock: () => number;
}

/** Every write of the controller. */
export class ObjectWriter {
  readonly #options: ObjectWriterOptions;

  constructor(options: ObjectWriterOptions) {
    this.#options = options;
  }

  /** @returns the object as it is now @throws ApiError */
  async apply({ what, target, isStatus, fields }: Apply, resource: Resource): Promise<KubernetesObject> {
    const { apiVersion, kind, namespace, name, uid, resourceVersion } = target;
    const metadata = {
      ...(isJsonObject(fields['metadata']) ? fields['metadata'] : {}),
      ...{ namespace, name },
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    const path = `${collectionPath(resource, namespace)}/${name}${isStatus ? '/status' : ''}`;
    // The empty endpoint may belong to another manager, which an apply could not take it from; the resourceVersion says it is empty.
    if (what === 'endpoint')
      return await this.#send(what, {
        method: 'PATCH',
        path,
        query: { fieldManager: MANAGERS[what] },
        body: { ...fields, metadata },
        contentType: 'application/merge-patch+json',
      });
    const query = { fieldManager: MANAGERS[what], force: String(OURS.has(what)) };
    const body = { ...fields, apiVersion, kind, metadata };
    return await this.#send(what, {
      method: 'PATCH',
      path,
      query,
      body,
      contentType: 'application/apply-patch+yaml',
    });
  }

  /** Makes an object that must not be there yet. @returns it, or the one that is there already @throws ApiError */
  async create({ what, target, fields }: Apply, resource: Resource): Promise<KubernetesObject> {
    const { apiVersion, kind, namespace, name } = target;
    const own = isJsonObject(fields['metadata']) ? fields['metadata'] : {};
    const path = collectionPath(resource, namespace);
    try {
      return await this.#send(what, {
        method: 'POST',
        path,
        query: { fieldManager: MANAGERS[what] },
        body: { ...fields, apiVersion, kind, metadata: { ...own, namespace, name } },
      });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== CONFLICT) throw error;
      const there = { method: 'GET', path: `${path}/${name}` } as const;
      return kubernetesObject(await this.#options.client.send(there, AbortSignal.timeout(LIMIT)));
    }
  }

  /**
   * Sets or removes our hook. A merge patch, not an apply: after `clusterctl move` the annotation belongs to another field manager,
   * and an apply could not take it away. It holds the uid, so that it meets this Machine or none.
   */
  async setHook(
    machine: KubernetesObject,
    resource: Resource,
    change: 'set' | 'remove',
  ): Promise<KubernetesObject> {
    const { namespace = '', name, uid } = machine.metadata;
    return await this.#send('hook', {
      method: 'PATCH',
      path: `${collectionPath(resource, namespace)}/${name}`,
      query: { fieldManager: 'bgp-lb-controller-hook' },
      body: { metadata: { uid, annotations: { [HOOK]: change === 'set' ? '' : null } } },
      contentType: 'application/merge-patch+json',
    });
  }

  async event(about: KubernetesObject, { type, reason, message }: EventText): Promise<void> {
    const { namespace = '', name, uid, resourceVersion } = about.metadata;
    const time = rfc3339(this.#options.wallClock());
    const [apiVersion, kind] = [String(about['apiVersion']), String(about['kind'])];
    await this.#send('event', {
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/events`,
      body: {
        ...{ apiVersion: 'v1', kind: 'Event', metadata: { namespace, generateName: `${name}.` } },
        involvedObject: { apiVersion, kind, namespace, name, uid, resourceVersion },
        ...{
          type,
          reason,
          message: message.slice(0, 1_024),
          count: 1,
          firstTimestamp: time,
          lastTimestamp: time,
        },
        ...{ source: { component: 'bgp-lb-controller' }, reportingComponent: 'bgp-lb-controller' },
        reportingInstance: this.#options.identity,
      },
    });
  }

  async #send(what: string, request: Parameters<ApiClient['send']>[0]): Promise<KubernetesObject> {
    this.#options.checkLeader();
    const answer = await this.#options.client.send(request, AbortSignal.timeout(LIMIT));
    this.#options.wrote(what);
    return kubernetesObject(answer);
  }
}
