import { ConfigError } from '@bgp-lb/daemon';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePool } from './parse-pool.ts';

const head = 'apiVersion: bgp-lb.dev/v1alpha1\nkind: Pool\n';

function refused(text: string): string {
  try {
    parsePool(text, 'configMap lb/prod');
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('the list passed');
}

describe('pool.yaml', () => {
  it('lists members', () => {
    const text = `${head}generation: 7\nmembers: [{ name: m1, address: 10.0.0.11, port: 6443, zone: a, draining: true }, { name: m2, address: "FD00::B" }]\n`;
    expect(parsePool(text, 'x')).toMatchObject({
      generation: 7,
      members: [
        { name: 'm1', address: '10.0.0.11', port: 6443, zone: 'a', draining: true },
        { name: 'm2', address: 'fd00::b', draining: false },
      ],
    });
  });

  it('may be empty only where it says so', () => {
    expect(parsePool(`${head}allowEmpty: true\nmembers: []\n`, 'x').members).toEqual([]);
    expect(refused(`${head}members: []\n`)).toContain(
      'configMap lb/prod pool.yaml:3:10: members: is empty; allowed: at least one member, or allowEmpty: true',
    );
  });

  it.each([
    ['', 'pool.yaml: is empty'],
    ['a: [', 'pool.yaml:1:'],
    ['apiVersion: v1\nkind: Pool\n', 'pool.yaml:1:13: apiVersion: is not what this program reads'],
    [
      `${head}members:\n  - { name: m1, adress: 10.0.0.11 }\n`,
      'pool.yaml:4:17: members.0.adress: is not a known key (address?)',
    ],
    [
      `${head}members:\n  - { name: m1, address: m1.example.net }\n`,
      'pool.yaml:4:26: members.0.address: is not an IP address',
    ],
    [
      `${head}members: [{ name: m1, address: 10.0.0.1 }, { name: m2, address: 10.0.0.1 }]\n`,
      'pool.yaml:3:65: members.1.address: is there twice',
    ],
    [
      `${head}members: [{ name: m1, address: 10.0.0.1 }, { name: m1, address: 10.0.0.2 }]\n`,
      'members.1.name: is there twice',
    ],
    [`${head}members: [${'{ name: m, address: 10.0.0.1 },'.repeat(65)}]\n`, 'members: is too long'],
    [`${head}members: []\n${'#'.repeat(70_000)}`, 'pool.yaml: has more than 65536 octets'],
    [`${head}generation: -1\nmembers: []`, 'generation: is too small'],
  ])('is refused with line and column: %j', (text, reason) => {
    expect(refused(text)).toContain(reason);
  });

  it('never fails in another way, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.jsonValue().map((value) => head + JSON.stringify(value)),
        ),
        (text) => {
          expect(refused(text)).not.toBe('');
        },
      ),
    );
  });
});
