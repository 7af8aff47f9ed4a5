import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parsePool } from './parse-pool.ts';

const docs = (name: string): string =>
  readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8');
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
addFormats.default(ajv);
const isGoodBySchema = ajv.compile(JSON.parse(docs('pool.schema.json')));

function isTakenByRouter(text: string): boolean {
  try {
    parsePool(text, 'a list');
    return true;
  } catch {
    return false;
  }
}

const list = (members: string, more = ''): string =>
  `apiVersion: bgp-lb.dev/v1alpha1\nkind: Pool\n${more}members: ${members}\n`;

describe('the JSON Schema of the list in a ConfigMap', () => {
  it('takes the list of the documentation', () => {
    const [, manifest = ''] =
      /```yaml\n(apiVersion: v1\nkind: ConfigMap\n[^`]*)```/.exec(docs('members.md')) ?? [];
    const { data } = parse(manifest) as { data: Record<string, string> };
    const text = data['pool.yaml'] ?? '';
    expect(parsePool(text, 'a list').members).toHaveLength(2);
    expect(isGoodBySchema(parse(text))).toBe(true);
  });

  it.each([
    [true, list('[{ name: m1, address: 10.0.0.11 }]')],
    [true, list('[{ name: m1, address: fd00::11, port: 7443, zone: a, draining: true }]', 'generation: 7\n')],
    [true, list('[]', 'allowEmpty: true\n')],
    [false, 'apiVersion: v1\nkind: Pool\nmembers: [{ name: m1, address: 10.0.0.11 }]\n'],
    [
      false,
      'apiVersion: bgp-lb.dev/v1alpha1\nkind: ConfigMap\nmembers: [{ name: m1, address: 10.0.0.11 }]\n',
    ],
    [false, 'kind: Pool\nmembers: [{ name: m1, address: 10.0.0.11 }]\n'],
    [false, 'apiVersion: bgp-lb.dev/v1alpha1\nkind: Pool\n'],
    [false, list('[{ name: m1, address: m1.example.net }]')],
    [false, list('[{ name: m1 }]')],
    [false, list('[{ address: 10.0.0.11 }]')],
    [false, list('[{ name: m1, adress: 10.0.0.11 }]')],
    [false, list('[{ name: m 1, address: 10.0.0.11 }]')],
    [false, list('[{ name: "", address: 10.0.0.11 }]')],
    [false, list('[{ name: m1, address: 10.0.0.11, port: 0 }]')],
    [false, list('[{ name: m1, address: 10.0.0.11, draining: maybe }]')],
    [false, list('[{ name: m1, address: 10.0.0.11 }]', 'generation: -1\n')],
    [false, list('[{ name: m1, address: 10.0.0.11 }]', 'unknown: 1\n')],
    [false, list(`[${Array.from({ length: 65 }, (_, n) => `{ name: m${n}, address: 10.0.0.${n + 1} }`)}]`)],
  ])('says %s as the router does: %s', (isGood, text) => {
    expect({
      schema: isGoodBySchema(parse(text)),
      router: isTakenByRouter(text),
    }).toEqual({ schema: isGood, router: isGood });
  });
});
