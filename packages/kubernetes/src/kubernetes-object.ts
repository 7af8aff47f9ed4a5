import { ApiError } from './api-error.ts';

/** An object of the API as far as it has been checked: `metadata` with a name and a resourceVersion. */
export interface KubernetesObject {
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion: string;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Counts the changes of `spec`. */
  readonly generation?: number | undefined;
  /** It is being deleted since (metav1.Time); finalizers hold it. */
  readonly deletionTimestamp?: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;

/** True for a JSON object; false for arrays and everything else. */
export function isJsonObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A checked object. @throws ApiError when `value` is none that an API server sends */
export function kubernetesObject(value: unknown): KubernetesObject {
  if (!isJsonObject(value)) throw malformed('an object', value);
  const { metadata } = value;
  if (!isJsonObject(metadata)) throw malformed('an object with metadata', value);
  const { name, namespace, uid, generation, deletionTimestamp } = metadata;
  if (typeof name !== 'string' || name === '') throw malformed('metadata.name', name);
  return {
    ...value,
    metadata: {
      name,
      namespace: typeof namespace === 'string' ? namespace : undefined,
      uid: typeof uid === 'string' ? uid : undefined,
      resourceVersion: resourceVersionOf(value),
      annotations: textsOf(metadata['annotations']),
      labels: textsOf(metadata['labels']),
      generation: typeof generation === 'number' ? generation : undefined,
      deletionTimestamp: typeof deletionTimestamp === 'string' ? deletionTimestamp : undefined,
    },
  };
}

/** The resourceVersion of an object or a list. @throws ApiError when it has none */
export function resourceVersionOf(value: unknown): string {
  const metadata = isJsonObject(value) ? value['metadata'] : undefined;
  const version = isJsonObject(metadata) ? metadata['resourceVersion'] : undefined;
  if (typeof version !== 'string') throw malformed('metadata.resourceVersion', version);
  return version;
}

/** What an object is known by: `NAMESPACE/NAME`, or the name alone of one without namespace. */
export function objectKey({ namespace, name }: ObjectMeta): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function textsOf(value: unknown): Readonly<Record<string, string>> | undefined {
  if (!isJsonObject(value)) return undefined;
  const texts = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(texts);
}

function malformed(expected: string, value: unknown): ApiError {
  const text = JSON.stringify(value)?.slice(0, 60) ?? 'nothing';
  return new ApiError('malformed', `the API server's answer is malformed: expected ${expected}, got ${text}`);
}
