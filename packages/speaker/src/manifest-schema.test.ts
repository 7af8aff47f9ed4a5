import { validate } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Pod';
import { describe, expect, it } from 'vitest';
import { speakerSchema } from './config/schema.ts';
import { staticPod } from './manifest.ts';

/** The parts of a validator that ajv made of the OpenAPI description of Kubernetes. */
type PodValidator = ((pod: unknown) => boolean) & {
  readonly errors?: readonly { readonly instancePath: string }[] | null;
};

// The package gives the function no type of its own.
const podIsValid: PodValidator = validate;

/**
 * What is wrong with a pod by the schema of Kubernetes (npm package kubernetes-models, generated from its OpenAPI description):
 * types, enumerations, required fields; and keys that no part of the schema asks for, which the API server drops silently.
 */
function faultsOf(pod: object): readonly string[] {
  const read = new Set<string>();
  const isValid = podIsValid(watched(pod, '', read));
  const errors = isValid ? [] : (podIsValid.errors ?? []).map(({ instancePath }) => instancePath);
  return [...errors, ...pathsOf(pod, '').filter((path) => !read.has(path))];
}

/** The value, noting each key that is read of it. */
function watched(value: unknown, path: string, read: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return new Proxy(value, {
    get(target, key, receiver) {
      const found: unknown = Reflect.get(target, key, receiver);
      if (typeof key === 'symbol') return found;
      read.add(`${path}/${key}`);
      return watched(found, `${path}/${key}`, read);
    },
  });
}

/** Paths of all keys. */
function pathsOf(value: unknown, path: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    `${path}/${key}`,
    ...pathsOf(inner, `${path}/${key}`),
  ]);
}

function pod(changes: object = {}): object {
  const config = speakerSchema.parse({
    role: 'join',
    asn: 64512,
    vips: [{ address: '10.0.0.100' }],
    routers: [{ address: '10.0.0.10', asn: 64512, passwordFile: '/etc/bgp-lb/bgp-password' }],
    ...changes,
  });
  // As it comes out of YAML: without what is undefined.
  return structuredClone(
    staticPod({ config, configFile: '/etc/bgp-lb/speaker.yaml', image: 'example.net/speaker:1' }),
  );
}

describe('the static pod by the schema of Kubernetes', () => {
  it.each([
    ['the defaults', {}],
    ['stopMode drain', { stopMode: 'drain' }],
    ['Cluster API', { role: 'cluster-api' }],
    [
      'IPv6',
      {
        vips: [{ address: 'fd00::100' }],
        routers: [{ address: 'fd00::10', asn: 64512 }],
        routerId: '10.0.0.1',
      },
    ],
  ])('is valid with %s', (_what, changes) => {
    expect(faultsOf(pod(changes))).toEqual([]);
  });

  it.each<[string, (pod: Record<string, unknown>) => void, string]>([
    [
      'a key that is not one',
      (it) => Reflect.set(Object(it['spec']), 'hostNetwrok', true),
      '/spec/hostNetwrok',
    ],
    [
      'a value of the wrong type',
      (it) => Reflect.set(Object(it['spec']), 'hostNetwork', 'true'),
      '/spec/hostNetwork',
    ],
    ['a missing field', (it) => Reflect.deleteProperty(Object(it['spec']), 'containers'), '/spec'],
  ])('would not be valid with %s', (_what, spoil, path) => {
    const spoiled = { ...pod() };
    spoil(spoiled);
    expect(faultsOf(spoiled)).toContain(path);
  });
});
