import { describe, expect, it } from 'vitest';
import type { NftObject } from '../nftables.ts';
import { nftChains } from './nft-rules.ts';

const SERVICES = 3000;
const hook = { type: 'filter', hook: 'output', prio: 0, policy: 'accept' };

/** What kube-proxy makes for so many Services of three endpoints each, and how often a chain's or rule's name is asked for. */
function kubeProxy(table: string): { chains: NftObject[]; rules: NftObject[]; asked: () => number } {
  let asked = 0;
  const counted = (object: NftObject, key: string, value: string): NftObject =>
    Object.defineProperty({ ...object }, key, {
      get: () => {
        asked++;
        return value;
      },
    });
  const within = { family: 'ip', table };
  const chain = (name: string): NftObject => counted(within, 'name', name);
  const rule = (name: string, target: string): NftObject =>
    counted({ ...within, expr: [{ jump: { target } }] }, 'chain', name);
  const services = Array.from({ length: SERVICES }, (_, index) => `SVC-${index}`);
  const endpoints = (service: string): string[] => [1, 2, 3].map((index) => `${service}-SEP-${index}`);
  return {
    chains: [
      chain('SERVICES'),
      ...services.flatMap((service) => [service, ...endpoints(service)].map(chain)),
    ],
    rules: services.flatMap((service) => [
      rule('SERVICES', service),
      ...['MARK', ...endpoints(service)].map((target) => rule(service, target)),
      ...endpoints(service).flatMap((endpoint) => [rule(endpoint, 'MARK'), rule(endpoint, 'DNAT')]),
    ]),
    asked: () => asked,
  };
}

describe('the rules of three thousand Services', () => {
  it('are looked at once each, in a table that filters', () => {
    const { chains, rules, asked } = kubeProxy('kube-proxy');
    const base = { family: 'ip', table: 'kube-proxy', name: 'filter-output', ...hook };
    const found = nftChains([base, ...chains], rules);
    // A name is asked for twice at most: to give it its rules, and to say it.
    expect(asked()).toBeLessThanOrEqual(2 * (chains.length + rules.length));
    expect(found).toHaveLength(chains.length + 1);
    expect(found.reduce((sum, chain) => sum + chain.rules.length, 0)).toBe(11 * SERVICES);
    expect(found.find(({ name }) => name === 'SVC-7')?.rules).toEqual(
      ['MARK', 'SVC-7-SEP-1', 'SVC-7-SEP-2', 'SVC-7-SEP-3'].map((chain) => [{ kind: 'jump', chain }]),
    );
  });

  it('are not looked at in a table that only translates addresses', () => {
    const { chains, rules, asked } = kubeProxy('nat');
    const filter = { family: 'ip', table: 'filter', name: 'OUTPUT', ...hook };
    const nat = { ...filter, table: 'nat', type: 'nat' };
    expect(nftChains([filter, nat, ...chains], rules).map(({ table }) => table)).toEqual(['ip filter']);
    expect(asked()).toBe(0);
  });
});
