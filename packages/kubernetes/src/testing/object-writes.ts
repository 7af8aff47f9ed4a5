import { randomUUID } from 'node:crypto';
import { isJsonObject } from '../kubernetes-object.ts';
import type { ApiRequest } from './api-request.ts';
import { ApplyConflict, FieldOwnership } from './field-ownership.ts';
import { type HistoryEvent, type ObjectHistory, StatusError } from './object-history.ts';
import { prunedWithDefaults, type ResourceSchema, schemaFaults } from './resource-schema.ts';

type Json = Readonly<Record<string, unknown>>;

/** A kind of the server. Kinds that are not defined take anything, without a subresource `status`. */
export interface ResourceDefinition {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly schema?: ResourceSchema | undefined;
  /** `status` is written by its own path alone. */
  readonly hasStatus: boolean;
}

/** Of a CustomResourceDefinition with one version. */
export function definitionOf(crd: object): ResourceDefinition {
  const { spec } = crd as {
    readonly spec: {
      readonly group: string;
      readonly names: { readonly kind: string; readonly plural: string };
      readonly versions: readonly [
        {
          readonly name: string;
          readonly subresources?: { readonly status?: object };
          readonly schema: { readonly openAPIV3Schema: ResourceSchema };
        },
      ];
    };
  };
  const [{ name, subresources, schema }] = spec.versions;
  const hasStatus = subresources?.status !== undefined;
  return { group: spec.group, version: name, ...spec.names, schema: schema.openAPIV3Schema, hasStatus };
}

export interface WriteRequest extends ApiRequest {
  readonly query: Readonly<Record<string, string>>;
  readonly contentType: string;
  readonly body: unknown;
}

export const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';

/** Creates, updates, patches, applies and deletes objects as an API server does. */
export class ObjectWrites {
  readonly #history: ObjectHistory;
  readonly #definitions = new Map<string, ResourceDefinition>();
  readonly #owners = new Map<string, FieldOwnership>();

  constructor(history: ObjectHistory) {
    this.#history = history;
  }

  define(definition: ResourceDefinition): void {
    this.#definitions.set(`${definition.group}/${definition.version}/${definition.plural}`, definition);
  }

  /** Of a group, as discovery tells. */
  definitions(group: string): readonly ResourceDefinition[] {
    return [...this.#definitions.values()].filter((one) => one.group === group);
  }

  get(request: ApiRequest): Json {
    const found = this.#history.list(request.collection, request.name)[0];
    if (found === undefined) throw notFound(request);
    return found;
  }

  /** @returns what is to be answered, and told to watches @throws StatusError */
  write(request: WriteRequest): {
    readonly object: Json;
    readonly events: readonly HistoryEvent[];
    readonly status: number;
  } {
    const { group, version, resource, subresource } = request;
    const definition = this.#definitions.get(`${group}/${version}/${resource}`);
    if (subresource === 'status' && definition?.hasStatus === false) throw notFound(request);
    switch (request.verb) {
      case 'create':
        return this.#create(request);
      case 'update':
        return this.#update(request, bodyOf(request));
      case 'patch':
        return request.contentType === APPLY ? this.#apply(request) : this.#merge(request);
      case 'delete':
        return this.#delete(request);
      default:
        throw new StatusError(405, 'MethodNotAllowed', request.verb);
    }
  }

  #create(request: WriteRequest): ReturnType<ObjectWrites['write']> {
    const body = bodyOf(request);
    const metadata = metadataOf(body);
    const { generateName } = metadata;
    const name =
      metadata['name'] ??
      (typeof generateName === 'string' ? `${generateName}${randomUUID().slice(0, 5)}` : undefined);
    if (typeof name !== 'string')
      throw new StatusError(
        422,
        'Invalid',
        'metadata.name: Required value: name or generateName is required',
      );
    const target = { ...request, name };
    if (this.#history.list(target.collection, name).length > 0)
      throw new StatusError(409, 'AlreadyExists', `${request.resource} "${name}" already exists`);
    const named = { ...body, metadata: { ...metadata, name } };
    const saved = this.#save(target, undefined, this.#hasStatus(target) ? without(named, 'status') : named);
    this.#ownersOf(target).update(this.#schema(target), {}, saved.object, managerOf(request));
    return { ...saved, status: 201 };
  }

  #update(request: WriteRequest, body: Json): ReturnType<ObjectWrites['write']> {
    const current = this.get(request);
    const { resourceVersion } = metadataOf(body);
    if (resourceVersion !== undefined && resourceVersion !== metadataOf(current)['resourceVersion'])
      throw changed(request);
    const next = this.#partial(request, current, body);
    const saved = this.#save(request, current, next);
    this.#ownersOf(request).update(this.#schema(request), current, saved.object, managerOf(request));
    return { ...saved, status: 200 };
  }

  #merge(request: WriteRequest): ReturnType<ObjectWrites['write']> {
    if (request.contentType !== MERGE)
      throw new StatusError(
        415,
        'UnsupportedMediaType',
        `${request.contentType} is not supported by the stand-in`,
      );
    const current = this.get(request);
    const body = bodyOf(request);
    const { resourceVersion, uid } = metadataOf(body);
    const known = metadataOf(current);
    if (resourceVersion !== undefined && resourceVersion !== known['resourceVersion']) throw changed(request);
    if (uid !== undefined && uid !== known['uid']) throw precondition(request);
    return this.#update(request, without(mergePatch(current, body) as Json, 'none'));
  }

  #apply(request: WriteRequest): ReturnType<ObjectWrites['write']> {
    const body = bodyOf(request);
    const { fieldManager, force } = request.query;
    if (fieldManager === undefined)
      throw new StatusError(
        422,
        'Invalid',
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      );
    checkApplied(request, body);
    const current = this.#history.list(request.collection, request.name)[0];
    checkMeant(request, body, current);
    const by = { manager: fieldManager, subresource: request.subresource, force: force === 'true' };
    const base = current ?? { metadata: { name: request.name } };
    const owned = this.#partialBody(request, body);
    let next: Json;
    try {
      next = this.#ownersOf(request).apply(this.#schema(request), base, owned, by);
    } catch (error) {
      if (error instanceof ApplyConflict) throw new StatusError(409, 'Conflict', error.message);
      throw error;
    }
    return { ...this.#save(request, current, next), status: current === undefined ? 201 : 200 };
  }

  #delete(request: WriteRequest): ReturnType<ObjectWrites['write']> {
    const current = this.get(request);
    const metadata = metadataOf(current);
    const finalizers = metadata['finalizers'];
    if (Array.isArray(finalizers) && finalizers.length > 0) {
      if (metadata['deletionTimestamp'] !== undefined) return { object: current, events: [], status: 200 };
      const marked = { ...current, metadata: { ...metadata, deletionTimestamp: now() } };
      const event = this.#history.put(request.collection, request.name ?? '', marked);
      return { object: event.object, events: [event], status: 200 };
    }
    return { object: current, events: this.#remove(request), status: 200 };
  }

  #remove(request: ApiRequest): readonly HistoryEvent[] {
    this.#owners.delete(`${request.collection}/${request.name}`);
    const event = this.#history.delete(request.collection, request.name ?? '');
    const uid = metadataOf(event.object)['uid'];
    return [
      event,
      ...this.#history.dependents(uid).flatMap(({ path, name }) => this.#history.delete(path, name)),
    ];
  }

  #save(
    request: ApiRequest,
    current: Json | undefined,
    next: Json,
  ): { object: Json; events: readonly HistoryEvent[] } {
    const schema = this.#schema(request);
    const pruned = (schema === undefined ? next : prunedWithDefaults(schema, next)) as Json;
    const body: Json = { ...pruned, apiVersion: next['apiVersion'], kind: next['kind'] };
    const faults = [
      ...labelFaults(metadataOf(next)),
      ...(schema === undefined
        ? []
        : schemaFaults(schema, pruned, current, '').map((fault) => fault.replace(/^\./, ''))),
    ];
    if (faults.length > 0) {
      const kind = `${String(next['kind'])}${request.group === '' ? '' : `.${request.group}`}`;
      const list = faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`;
      throw new StatusError(422, 'Invalid', `${kind} "${request.name}" is invalid: ${list}`);
    }
    const known = metadataOf(current ?? {});
    const { generation = 0 } = known;
    const isNewSpec = JSON.stringify(body['spec']) !== JSON.stringify(current?.['spec']);
    const metadata = {
      ...metadataOf(next),
      creationTimestamp: known['creationTimestamp'] ?? now(),
      ...(known['deletionTimestamp'] === undefined ? {} : { deletionTimestamp: known['deletionTimestamp'] }),
      generation: Number(generation) + (current === undefined || isNewSpec ? 1 : 0),
      ...(current === undefined ? {} : { uid: known['uid'], resourceVersion: known['resourceVersion'] }),
    };
    const object: Json = { ...body, metadata };
    // What changes nothing has no new version, and no watch hears of it.
    if (current !== undefined && sorted(object) === sorted(current)) return { object: current, events: [] };
    const event = this.#history.put(request.collection, request.name ?? '', object);
    const { finalizers } = metadata as { readonly finalizers?: readonly string[] };
    const isOver = metadata.deletionTimestamp !== undefined && (finalizers ?? []).length === 0;
    return { object: event.object, events: isOver ? [event, ...this.#remove(request)] : [event] };
  }

  #hasStatus({ group, version, resource }: ApiRequest): boolean {
    return this.#definitions.get(`${group}/${version}/${resource}`)?.hasStatus === true;
  }

  #schema({ group, version, resource }: ApiRequest): ResourceSchema | undefined {
    return this.#definitions.get(`${group}/${version}/${resource}`)?.schema;
  }

  /** The object after a write of all of it, of which the path says which part counts. */
  #partial(request: ApiRequest, current: Json, body: Json): Json {
    if (request.subresource === 'status') return { ...current, status: body['status'] };
    return this.#hasStatus(request) ? { ...body, status: current['status'] } : body;
  }

  #partialBody(request: ApiRequest, body: Json): Json {
    const { apiVersion, kind, status } = body;
    if (request.subresource === 'status')
      return { apiVersion, kind, ...(status === undefined ? {} : { status }) };
    return this.#hasStatus(request) ? without(body, 'status') : body;
  }

  #ownersOf({ collection, name }: ApiRequest): FieldOwnership {
    const key = `${collection}/${name}`;
    const found = this.#owners.get(key) ?? new FieldOwnership();
    this.#owners.set(key, found);
    return found;
  }
}

function checkApplied({ name: meant }: ApiRequest, body: Json): void {
  const { name, managedFields } = metadataOf(body);
  const bad = (message: string): StatusError => new StatusError(400, 'BadRequest', message);
  if (managedFields !== undefined) throw bad('metadata.managedFields must be nil');
  if (typeof body['apiVersion'] !== 'string' || typeof body['kind'] !== 'string')
    throw bad('apiVersion and kind must be set');
  if (name !== undefined && name !== meant)
    throw bad(`the name of the object (${String(name)}) does not match the name on the URL (${meant})`);
}

/** An apply may say which object it means, and in which version. */
function checkMeant(request: ApiRequest, body: Json, current: Json | undefined): void {
  const { uid, resourceVersion } = metadataOf(body);
  const known = metadataOf(current ?? {});
  if (uid !== undefined && uid !== known['uid']) throw precondition(request);
  if (current === undefined && (resourceVersion !== undefined || request.subresource !== undefined))
    throw notFound(request);
  if (resourceVersion !== undefined && resourceVersion !== known['resourceVersion']) throw changed(request);
}

const LABEL = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

function labelFaults(metadata: Json): string[] {
  return (['labels', 'annotations'] as const).flatMap((field) =>
    Object.keys((metadata[field] ?? {}) as object)
      .filter((key) => !LABEL.test(key))
      .map(
        (key) =>
          `metadata.${field}: Invalid value: "${key}": a qualified name must consist of alphanumeric characters, '-', '_' or '.'`,
      ),
  );
}

function bodyOf({ body }: WriteRequest): Json {
  if (!isJsonObject(body)) throw new StatusError(400, 'BadRequest', 'the body of the request is no object');
  return body;
}

function metadataOf(object: Json): Json {
  return isJsonObject(object['metadata']) ? object['metadata'] : {};
}

function managerOf({ query }: WriteRequest): string {
  return query['fieldManager'] ?? 'unknown';
}

function without(object: Json, key: string): Json {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}

/** JSON merge patch: `null` takes away. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const base = isJsonObject(target) ? target : {};
  const next = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete next[key];
    else next[key] = mergePatch(base[key], value);
  }
  return next;
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    isJsonObject(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

function now(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}

function notFound({ resource, name }: ApiRequest): StatusError {
  return new StatusError(404, 'NotFound', `${resource} "${name}" not found`);
}

function changed({ resource, name }: ApiRequest): StatusError {
  const message = `Operation cannot be fulfilled on ${resource} "${name}": the object has been modified; please apply your changes to the latest version and try again`;
  return new StatusError(409, 'Conflict', message);
}

function precondition({ resource, name }: ApiRequest): StatusError {
  return new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${resource} "${name}": Precondition failed: UID in precondition does not match`,
  );
}
