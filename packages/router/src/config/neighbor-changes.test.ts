import { checkReload } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { checkNeighbors, planNeighbors, routerReload } from './neighbor-changes.ts';
import type { RouterConfig } from './router-config.ts';
import { routerSchema } from './schema.ts';

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
  it('touches no session when nothing has changed', () => {
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
  ])('replaces the session for %s', (_what, changes) => {
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

  it('takes another timing of BFD of a neighbor that stays, masters too', () => {
    const bfd = { transmitInterval: '50ms', receiveInterval: '60ms', detectMultiplier: 4 };
    expect(plan([{ ...masters, bfd }, tor])).toEqual([[], [], [], ['masters']]);
    const strict = { ...tor, bfd: { strict: true } };
    const { updated } = planNeighbors(
      config([masters, strict]).neighbors,
      config([masters, { ...tor, bfd: { ...bfd, strict: true } }]).neighbors,
    );
    expect(updated).toMatchObject([{ name: 'tor', bfd: { transmitInterval: 50 } }]);
  });

  it.each([[false], [{ strict: true }], [{ multihop: true }]])(
    'refuses BFD that becomes %j of a neighbor that stays, by name',
    (bfd) => {
      const before = { ...tor, bfd: {} };
      const planned = (after: object): unknown =>
        planNeighbors(config([masters, before]).neighbors, config([masters, after]).neighbors);
      const checked = (after: object): void =>
        checkNeighbors(config([masters, before]).neighbors, config([masters, after]).neighbors);
      expect(() => checked({ ...before, bfd })).toThrow('since neighbors.tor.bfd, in more than');
      expect(() => checked({ ...before, address: '10.0.1.2', bfd })).not.toThrow();
      expect(planned({ ...before, address: '10.0.1.2', bfd })).toMatchObject({
        changed: [{ to: { name: 'tor' } }],
      });
    },
  );

  it.each([
    ['hold time', { holdTime: '30s' }],
    ['range', { range: '10.1.0.0/24' }],
    ['password where there was none', { passwordFile: '/etc/secret' }],
  ])('refuses another %s of masters: all of them would leave the pool at once', (_what, changes) => {
    const after = config([{ ...masters, ...changes }, tor]).neighbors;
    expect(() => checkNeighbors(config().neighbors, after)).toThrow(
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
    expect(() => checkReload(config(), next, routerReload)).toThrow(/a reload takes neighbors, .* and log$/);
    const taken = config([masters, tor], {
      log: { level: 'debug' },
      healthCheck: { interval: '5s', fall: 9 },
      pool: { evictAfter: '1m', panicThreshold: '10%' },
    });
    expect(() => checkReload(config(), taken, routerReload)).not.toThrow();
  });
});
