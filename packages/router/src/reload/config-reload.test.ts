import { createLogger } from '@bgp-lb/daemon';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RouterConfig } from '../config/router-config.ts';
import { routerSchema } from '../config/schema.ts';
import { ConfigReload, type Reloaded } from './config-reload.ts';

const none = (): void => undefined;

function config(changes: object = {}): RouterConfig {
  const neighbors = [{ name: 'masters', role: 'master', range: '10.0.0.0/24', asn: 64512 }];
  return routerSchema.parse({ asn: 64512, vips: [{ address: '10.100.0.1' }], neighbors, ...changes });
}

describe('a reload', () => {
  let log: string[];
  let parts: Reloaded;
  beforeEach(() => {
    log = [];
    parts = {
      bgp: {
        readPasswords: () => new Map(),
        setNeighbors: () => ({ added: [], removed: [], changed: [], updated: [] }),
        setVips: () => [],
      },
      bfd: { setNeighbors: none },
      advertiser: { setAdvertised: none, refresh: () => log.push('refresh') },
      pools: { configure: none },
      controller: { adopt: none, begin: none, end: none, reconsider: none },
      rebalancer: { forget: none },
      dataPlane: { setVips: () => new Map() },
      onLink: { setAddresses: none },
      forwardingTimes: { setVips: none },
      health: { restart: none },
      membership: { standing: () => [], configure: () => undefined },
      ca: { use: none },
    };
  });

  function reload(next: RouterConfig): ConfigReload {
    const made = new ConfigReload({
      config: config(),
      reread: () => next,
      logger: createLogger('error', { name: 'test' }),
      observer: {
        reloaded: () => log.push('reloaded'),
        reloadRefused: (text) => log.push(`refused: ${text}`),
        reloadIncomplete: (text) => log.push(`incomplete: ${text}`),
        problem: (text) => log.push(`problem: ${text}`),
      },
    });
    made.begin(parts);
    return made;
  }

  it('that changes what only a start takes names it, and changes nothing of the rest', () => {
    const next = config({ asn: 64513, vips: [{ address: '10.100.0.2' }] });
    const made = reload(next);
    expect(() => made.take()).toThrow(/nothing was reloaded, since asn changed/);
    expect(made.config.vips).toMatchObject([{ address: '10.100.0.1' }]);
    expect(log).toEqual([expect.stringMatching(/^refused: /)]);
  });

  it('does the rest where a part fails, says what failed and that the new configuration counts', () => {
    parts = {
      ...parts,
      dataPlane: {
        setVips: () => {
          throw new Error('no nexthop id is free');
        },
      },
    };
    const made = reload(config({ vips: [{ address: '10.100.0.2' }] }));
    expect(() => made.take()).toThrow(/not all of it could be done \(VIPs: no nexthop id is free\)/);
    expect(made.config.vips).toMatchObject([{ address: '10.100.0.2' }]);
    expect(log).toEqual([
      'refresh',
      expect.stringMatching(/^incomplete: the new configuration was taken, but/),
    ]);
  });

  it('says so of masters that cannot be asked for what was refused before', () => {
    parts = { ...parts, bgp: { ...parts.bgp, setVips: () => ['10.0.0.11'] } };
    const changes = reload(config({ vips: [{ address: '10.100.0.1' }, { address: '10.100.0.2' }] })).take();
    expect(changes.vips.added).toEqual(['10.100.0.2']);
    expect(log).toContainEqual(expect.stringMatching(/^problem: 10\.0\.0\.11 cannot be asked .*RFC 2918/));
  });
});
