import { checkReload } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import type { RouterConfig } from '../config/router-config.ts';
import { routerSchema } from '../config/schema.ts';
import { planNeighbors, routerReload } from './neighbor-changes.ts';

const masters = { name: 'masters', role: 'master', range: '10.0.0.0/24', asn: 64512 };
const tor = { name: 'tor', role: 'upstream', address: '10.0.1.1', asn: 65001 };

function config(neighbors: readonly object[] = [masters, tor], changes: object = {}): RouterConfig {
  const vips = [{ address: '10.100.0.1' }];
  return routerSchema.parse({ asn: 64512, vips, neighbors, ...changes });
}

const plan = (after: readonly object[]) => {
  const { added, removed, changed, updated } = planNeighbors(config().neighbors, config(after).neighbors);
  const names = (list: readonly { readonly name: string }[]): string[] => list.map(({ name }) => name);
  return [names(added), names(removed), names(changed.map(({ to }) => to)), names(updated)];
};

describe('a reload of the neighbors', () => {
  it('touches nobody when nothing has changed', () => {
    expect(plan([masters, tor])).toEqual([[], [], [], []]);
  });

  it('adds and removes by name', () => {
    expect(plan([masters, { ...tor, name: 'other' }])).toEqual([['other'], ['tor'], [], []]);
  });

  it.each([
    ['another hold time', { holdTime: '30s' }],
    ['another AS', { asn: 65002 }],
    ['a password where there was none', { passwordFile: '/etc/secret' }],
    ['another address', { address: '10.0.1.2' }],
  ])('makes the session anew for %s', (_what, changes) => {
    expect(plan([masters, { ...tor, ...changes }])).toEqual([[], [], ['tor'], []]);
  });

  it.each([
    ['another MED', { med: 7 }],
    ['prepending', { prepend: 2 }],
    ['communities', { communities: ['65001:1'] }],
    ['less of it while the pool is small', { degraded: { below: 2, prepend: 3 } }],
  ])('keeps the session for %s', (_what, changes) => {
    expect(plan([masters, { ...tor, ...changes }])).toEqual([[], [], [], ['tor']]);
  });

  it('refuses other BFD of a neighbor that stays, by name', () => {
    const bfd = { transmitInterval: '50ms', receiveInterval: '50ms' };
    expect(() => plan([{ ...masters, bfd }, tor])).toThrow('since neighbors.masters.bfd changed');
    expect(plan([masters, { ...tor, address: '10.0.1.2', bfd }])).toEqual([[], [], ['tor'], []]);
  });

  it.each([
    ['hold time', { holdTime: '30s' }],
    ['range', { range: '10.1.0.0/24' }],
    ['password where there was none', { passwordFile: '/etc/secret' }],
  ])('refuses another %s of masters: all of them would leave the pool at once', (_what, changes) => {
    expect(() => plan([{ ...masters, ...changes }, tor])).toThrow(
      'since neighbors.masters changed, which only a start of the router takes',
    );
  });

  it('takes another password of masters', () => {
    const [before, after] = ['/etc/old', '/etc/new'].map(
      (passwordFile) => config([{ ...masters, passwordFile }]).neighbors,
    );
    expect(planNeighbors(before ?? [], after ?? []).updated).toMatchObject([{ name: 'masters' }]);
  });

  it('refuses everything else by its key', () => {
    const next = config([masters, tor], { asn: 64513, pool: { staleTime: '10s' } });
    expect(() => checkReload(config(), next, routerReload)).toThrow(
      /since asn, pool\.staleTime changed, which only a start of the router takes \(forwarding goes on/,
    );
    const log = config([masters], { log: { level: 'debug' } });
    expect(() => checkReload(config(), log, routerReload)).not.toThrow();
  });
});
