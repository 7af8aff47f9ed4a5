import { describe, expect, it } from 'vitest';
import { chainsThatDrop } from './check-firewall.ts';

const chain = { family: 'inet', table: 'fw', name: 'forward', hook: 'forward', policy: 'accept' };
const rule = (...expr: readonly object[]) => ({ family: 'inet', table: 'fw', chain: 'forward', expr });
const match = { match: { op: '==', left: { meta: { key: 'iifname' } }, right: 'eth0' } };

const found = (rules: readonly Readonly<Record<string, unknown>>[], policy = 'accept'): readonly string[] =>
  chainsThatDrop([{ ...chain, policy }], 'forward', rules).map(({ name }) => name);

describe('a chain that drops what no rule accepts', () => {
  it.each([
    ['its policy', [], 'drop'],
    [
      'a last rule',
      [rule(match, { accept: null }), rule({ counter: { packets: 1, bytes: 2 } }, { drop: null })],
      'accept',
    ],
    ['a last rule that rejects', [rule({ reject: { type: 'icmpx', expr: 'admin-prohibited' } })], 'accept'],
  ])('is found by %s', (_, rules, policy) => {
    expect(found(rules, policy)).toEqual(['forward']);
  });

  it.each([
    ['no rule', []],
    ['a last rule with a condition', [rule(match, { drop: null })]],
    ['a drop that others follow', [rule({ drop: null }), rule(match, { accept: null })]],
    ['a rule of another chain', [{ ...rule({ drop: null }), chain: 'input' }]],
  ])('is none with %s', (_, rules) => {
    expect(found(rules)).toEqual([]);
  });
});
