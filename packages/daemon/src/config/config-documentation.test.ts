import { describe, expect, it } from 'vitest';
import { sampleSchema } from '../testing/sample-schema.ts';
import { describeSchema } from './config-key.ts';
import { configMarkdown } from './config-markdown.ts';
import { jsonSchema } from './json-schema.ts';

const keys = describeSchema(sampleSchema);

describe('describeSchema', () => {
  it('lists every key, depth first', () => {
    expect(keys.map((key) => key.path)).toEqual([
      'asn',
      'routerId',
      'vips',
      'vips[].address',
      'vips[].port',
      'neighbors',
      'neighbors[].name',
      'neighbors[].range',
      'neighbors[].holdTime',
      'neighbors[].asn',
      'healthCheck',
      'healthCheck.serverName',
      'healthCheck.interval',
      'healthCheck.rise',
      'panicThreshold',
      'api',
      'api.socket',
      'api.listen',
      'routeToVip',
      'role',
    ]);
  });

  it('shows defaults as one writes them', () => {
    const defaults = Object.fromEntries(keys.map((key) => [key.path, key.default]));
    expect(defaults).toMatchObject({
      'neighbors[].holdTime': '9s',
      'healthCheck.interval': '1s',
      panicThreshold: '50%',
      routeToVip: false,
      neighbors: [],
    });
  });

  it('knows what is required, and the variable of each key', () => {
    expect(keys.filter((key) => key.isRequired).map((key) => key.path)).toEqual([
      'asn',
      'vips',
      'vips[].address',
      'neighbors[].name',
      'neighbors[].asn',
    ]);
    expect(keys.find((key) => key.path === 'neighbors[].holdTime')?.variable).toBe(
      'BGP_LB_NEIGHBORS_N_HOLD_TIME',
    );
  });
});

describe('configMarkdown', () => {
  it('has one row per key', () => {
    const markdown = configMarkdown({ title: 'Router', schema: sampleSchema });
    expect(markdown.split('\n').filter((line) => line.startsWith('| `'))).toHaveLength(keys.length);
    expect(markdown).toContain(
      '| `neighbors[].holdTime` | duration | `9s` | Hold time. Allowed: 3s to 65535s. |',
    );
    expect(markdown).toContain('| `asn` | AS number | required | Our AS. |');
  });
});

describe('jsonSchema', () => {
  const schema = jsonSchema(sampleSchema, { id: 'urn:x', title: 'X', apiVersion: 'v1', kind: 'Router' });

  it('has the heading of the document and refuses other keys', () => {
    expect(schema).toMatchObject({
      $id: 'urn:x',
      additionalProperties: false,
      required: ['apiVersion', 'kind', 'asn', 'vips'],
      properties: { apiVersion: { const: 'v1' }, kind: { const: 'Router' } },
    });
  });

  it('describes what is written, not what it becomes', () => {
    expect(schema).toMatchObject({
      properties: {
        panicThreshold: { type: 'string', default: '50%' },
        neighbors: { items: { properties: { holdTime: { type: 'string', default: '9s' } } } },
        vips: {
          items: { properties: { port: { type: 'integer', minimum: 1, maximum: 65535, default: 6443 } } },
        },
      },
    });
  });
});
