import { createLogger } from '@bgp-lb/daemon';
import { beforeEach, describe, expect, it } from 'vitest';
import { CurrentConfig } from '../config/current-config.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { routerSchema } from '../config/schema.ts';
import { bgp, up } from '../pool/testing/pool-bench.ts';
import { ConfigReload, type ReloadedParts } from './config-reload.ts';

const [one, two] = [{ address: '10.100.0.1' }, { address: '10.100.0.2' }];

function config(changes: object = {}): RouterConfig {
  const neighbors = [{ name: 'masters', role: 'master', range: '10.0.0.0/24', asn: 64512 }];
  return routerSchema.parse({ asn: 64512, vips: [one], neighbors, ...changes });
}

describe('a reload', () => {
  let log: string[];
  let parts: ReloadedParts;
  let current: CurrentConfig;
  beforeEach(() => {
    log = [];
    current = new CurrentConfig(config());
    const note = (...words: readonly unknown[]): void => {
      const text = words.map((word) => (typeof word === 'object' ? JSON.stringify(word) : String(word)));
      log.push(text.join(' '));
    };
    const noted =
      (what: string) =>
      ({ vips }: Pick<RouterConfig, 'vips'>): void =>
        note(what, vips.map(({ address }) => address).join());
    parts = {
      bgp: {
        readPasswords: () => new Map(),
        configure: () => {
          note('sessions');
          return { added: [], removed: [], changed: [], updated: [] };
        },
        configureImport: (next) => {
          noted('import')(next);
          return ['10.0.0.13'];
        },
      },
      bfd: { configure: () => note('BFD') },
      advertiser: { configure: noted('upstreams') },
      pools: { configure: noted('pools') },
      controller: {
        configure: (adopted, standing) => note('run pools', [...adopted.keys()], standing),
        reconsider: () => note('reconsider'),
      },
      rebalancer: { configure: noted('rebalances') },
      dataPlane: {
        setVips: (vips) => {
          note('data plane', vips.map(({ address, port }) => `${address}:${port}`).join());
          return new Map([['10.100.0.2/32', [{ nextHop: '10.0.0.11', weight: 256 }]]]);
        },
      },
      onLink: { setAddresses: (addresses) => note('on link', addresses.join()) },
      forwardingTimes: { configure: noted('times') },
      health: { configure: noted('probes') },
      membership: {
        standing: () => [{ type: 'session', source: bgp, nextHop: '10.0.0.11', name: 'm1', session: up }],
        configure: () => note('membership'),
      },
      ca: { configure: () => note('CA') },
    };
  });

  function reload(next: RouterConfig): ConfigReload {
    return new ConfigReload({
      current,
      reread: () => next,
      logger: createLogger('error', { name: 'test' }),
      observer: {
        reloaded: () => log.push('reloaded'),
        reloadRefused: (text) => log.push(`refused: ${text}`),
        reloadIncomplete: (text) => log.push(`incomplete: ${text}`),
        problem: (text) => log.push(`problem: ${text}`),
      },
      parts,
    });
  }

  it('that changes what only a start takes names it, and changes nothing of the rest', () => {
    const made = reload(config({ asn: 64513, vips: [two] }));
    expect(() => made.take()).toThrow(/nothing was reloaded, since asn changed/);
    expect(current.config.vips).toMatchObject([one]);
    expect(log).toEqual([expect.stringMatching(/^refused: /)]);
  });

  it('that would close the sessions of all masters changes nothing', () => {
    const neighbors = [{ name: 'masters', role: 'master', range: '10.1.0.0/24', asn: 64512 }];
    expect(() => reload(config({ neighbors, vips: [two] })).take()).toThrow(
      /since neighbors\.masters changed/,
    );
    expect(current.config.vips).toMatchObject([one]);
    expect(log).toEqual([expect.stringMatching(/^refused: /)]);
  });

  it('does the rest where a part fails, says what failed and that the new configuration counts', () => {
    const setVips = (): never => {
      throw new Error('no nexthop id is free');
    };
    parts = { ...parts, dataPlane: { setVips } };
    expect(() => reload(config({ vips: [two] })).take()).toThrow(
      /not all of it could be done \(VIPs: no nexthop id is free\)/,
    );
    expect(current.config.vips).toMatchObject([two]);
    expect(log).toEqual([
      'sessions',
      'BFD',
      'upstreams 10.100.0.2',
      'CA',
      'probes 10.100.0.2',
      'pools 10.100.0.2',
      'rebalances 10.100.0.2',
      'times 10.100.0.2',
      'membership',
      'reconsider',
      expect.stringMatching(/^incomplete: the new configuration was taken, but/),
    ]);
  });

  it('withdraws a VIP from upstreams before it goes, has probes of a new one before its pool, and its floor before masters are asked for it', () => {
    const changes = reload(config({ vips: [one, two] })).take();
    expect(changes.vips.added).toEqual(['10.100.0.2']);
    expect(log).toEqual([
      'sessions',
      'BFD',
      'upstreams 10.100.0.1,10.100.0.2',
      'CA',
      'probes 10.100.0.1,10.100.0.2',
      'pools 10.100.0.1,10.100.0.2',
      'rebalances 10.100.0.1,10.100.0.2',
      'times 10.100.0.1,10.100.0.2',
      'data plane 10.100.0.1:6443,10.100.0.2:6443',
      'run pools ["10.100.0.2/32"] [{"type":"session","source":{"kind":"bgp","name":""},"nextHop":"10.0.0.11","name":"m1","session":{"isLive":true,"state":"Established"}}]',
      'on link 10.100.0.1,10.100.0.2',
      'import 10.100.0.1,10.100.0.2',
      expect.stringMatching(/^problem: 10\.0\.0\.13 cannot be asked .*RFC 2918/),
      'membership',
      'reconsider',
      'reloaded',
    ]);
  });
});
