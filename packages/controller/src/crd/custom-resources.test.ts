import { evaluate } from '@marcbachmann/cel-js';
import { describe, expect, it } from 'vitest';
import {
  type MachineLoadBalancerSpec,
  machineLoadBalancerRules,
  machineLoadBalancerSpec,
} from '../api/machine-load-balancer.ts';
import { customResourceDefinitions } from './custom-resources.ts';

type Json = Readonly<Record<string, unknown>>;
type Schema = Json & { readonly properties?: Readonly<Record<string, Schema>> };

const definitions = customResourceDefinitions() as readonly {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly versions: readonly [
      {
        readonly additionalPrinterColumns: readonly { readonly name: string; readonly jsonPath: string }[];
        readonly schema: { readonly openAPIV3Schema: Schema };
      },
    ];
  };
}[];
const schemas = definitions.map(
  ({ metadata, spec }) => [metadata.name, spec.versions[0].schema.openAPIV3Schema] as const,
);

/** What apiextensions.k8s.io/v1 refuses ("Specifying a structural schema"). */
function faultsOf(schema: Schema, path: string): string[] {
  const forbidden = ['$ref', '$schema', 'definitions', 'const', 'exclusiveMinimum', 'patternProperties'];
  const { type, properties, items, additionalProperties } = schema;
  const children: readonly [string, unknown][] = [
    ...Object.entries(properties ?? {}),
    ...(items === undefined ? [] : [['items', items] as [string, unknown]]),
    ...(additionalProperties === undefined
      ? []
      : [['additionalProperties', additionalProperties] as [string, unknown]]),
  ];
  return [
    ...(typeof type === 'string' ? [] : [`${path}: no type`]),
    ...forbidden.filter((key) => key in schema).map((key) => `${path}: ${key}`),
    ...(properties !== undefined && additionalProperties !== undefined
      ? [`${path}: both kinds of properties`]
      : []),
    ...(additionalProperties === false ? [`${path}: additionalProperties false`] : []),
    // Within anyOf no structure may be said again.
    ...((schema['anyOf'] as Json[] | undefined) ?? []).flatMap((one) =>
      ['type', 'properties', 'default', 'description', 'items']
        .filter((key) => key in one)
        .map((key) => `${path}: anyOf with ${key}`),
    ),
    ...(type === 'array' && items === undefined ? [`${path}: no items`] : []),
    ...mapKeyFaults(schema, path),
    ...children.flatMap(([key, child]) => faultsOf(child as Schema, `${path}.${key}`)),
  ];
}

/** Keys of a list that is a map are required or have a default. */
function mapKeyFaults(schema: Schema, path: string): string[] {
  const keys = schema['x-kubernetes-list-map-keys'] as string[] | undefined;
  const element = schema['items'] as Schema | undefined;
  const required = (element?.['required'] ?? []) as string[];
  return (keys ?? [])
    .filter((key) => !required.includes(key))
    .map((key) => `${path}: ${key} is not required`);
}

describe('the CRDs', () => {
  it.each(schemas)('%s is a structural schema', (_, schema) => {
    expect(faultsOf(schema, '')).toEqual([]);
  });

  it('every field has a limit that keeps the cost of rules bounded', () => {
    const unbounded = (schema: Schema, path: string): string[] => [
      ...(schema['type'] === 'array' && schema['maxItems'] === undefined ? [path] : []),
      ...Object.entries(schema.properties ?? {}).flatMap(([key, child]) =>
        unbounded(child, `${path}.${key}`),
      ),
    ];
    const specs = schemas.flatMap(([name, { properties }]) =>
      properties?.['spec'] === undefined ? [] : unbounded(properties['spec'], name),
    );
    expect(specs).toEqual([]);
  });

  it('columns show what exists', () => {
    for (const { spec } of definitions) {
      const [{ additionalPrinterColumns, schema }] = spec.versions;
      for (const { jsonPath } of additionalPrinterColumns) {
        const keys = jsonPath
          .replace(/\[[^\]]*\]/g, '')
          .split('.')
          .slice(1);
        let at: Schema | undefined = schema.openAPIV3Schema;
        for (const key of keys) {
          if (keys[0] === 'metadata') break;
          const next: Schema | undefined =
            at?.properties?.[key] ?? (at?.['items'] as Schema | undefined)?.properties?.[key];
          expect(next, `${jsonPath} at ${key}`).toBeDefined();
          at = next;
        }
      }
    }
  });

  it('kubectl get mlb shows endpoint, readiness, status, provider and age, and more with -o wide', () => {
    const [{ additionalPrinterColumns }] = definitions[0]?.spec.versions ?? [
      { additionalPrinterColumns: [] },
    ];
    expect(additionalPrinterColumns.map(({ name }) => name).join()).toBe(
      'ENDPOINT,READY,STATUS,PROVIDER,AGE,ZONES,PAUSED',
    );
  });
});

describe('the rules of a MachineLoadBalancer', () => {
  const good = {
    machineSelector: {},
    providerRef: { apiGroup: 'bgp-lb.dev', kind: 'BGPLoadBalancer', name: 'prod' },
  };
  const members = [{ name: 'a', address: '10.0.0.1' }];
  const specs: readonly Json[] = [
    good,
    { ...good, members },
    { ...good, machineSelector: undefined },
    { ...good, machineSelector: undefined, members, source: 'Static' },
    { ...good, source: 'Static' },
    { ...good, port: { protocol: 'udp' } },
    { ...good, port: { protocol: 'udp' }, healthCheck: { type: 'none' } },
    { ...good, zones: { mode: 'Only' } },
    { ...good, zones: { mode: 'Only', name: 'a' } },
    { ...good, drain: { hook: true } },
    { ...good, source: 'Node', drain: { hook: true } },
  ];
  const withDefaults = (spec: Json): MachineLoadBalancerSpec =>
    machineLoadBalancerSpec.parse(JSON.parse(JSON.stringify(spec)));

  // An API server without CEL gets the same answers from the controller.
  it('say in CEL what the functions say, each of both outcomes', () => {
    for (const { rule, holds } of machineLoadBalancerRules) {
      if (holds === undefined) continue;
      const answers = specs.map((spec) => {
        const self = withDefaults(spec);
        expect(
          evaluate(rule, { self: JSON.parse(JSON.stringify(self)) }),
          `${rule} of ${JSON.stringify(spec)}`,
        ).toBe(holds(self));
        return holds(self);
      });
      expect(new Set(answers), rule).toEqual(new Set([true, false]));
    }
  });

  it.each([
    [{}, { vip: '10.0.0.1' }, true],
    [{ vip: '10.0.0.1' }, { vip: '10.0.0.1' }, true],
    [{ vip: '10.0.0.1' }, { vip: '10.0.0.2' }, false],
    // A rule on the field itself would not be asked.
    [{ vip: '10.0.0.1' }, {}, false],
  ])('a VIP that goes from %j to %j: %s', (oldSelf, self, expected) => {
    const rule = machineLoadBalancerRules.find(({ holds }) => holds === undefined)?.rule ?? '';
    expect(evaluate(rule, { oldSelf, self })).toBe(expected);
  });
});
