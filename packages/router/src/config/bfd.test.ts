import { ConfigError, loadConfig } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { configWarnings } from './config-warnings.ts';
import type { RouterConfig } from './router-config.ts';
import { API_VERSION, CONFIG_KIND, routerSchema } from './schema.ts';

const head = `apiVersion: ${API_VERSION}\nkind: ${CONFIG_KIND}\nasn: 64512\nvips: [{ address: 10.9.0.100 }]\n`;

/** A configuration with one master or range, and one upstream, each with more keys. */
function load(ofMaster: string, ofUpstream = ''): RouterConfig {
  const text = `${head}neighbors:
  - { name: masters, role: master, asn: 64512, ${ofMaster} }
  - { name: tor, role: upstream, address: 10.0.1.1, asn: 65001${ofUpstream} }
`;
  const common = { schema: routerSchema, file: 'router.yaml', argv: {} };
  return loadConfig({ ...common, text, apiVersion: API_VERSION, kind: CONFIG_KIND }).config;
}

/** Without times: they follow from the address of each neighbor. */
const byDefault = {
  strict: false,
  authentication: 'auto',
  keyId: 1,
};

describe('BFD in the configuration', () => {
  it('is there with masters, and not with upstreams', () => {
    const [masters, tor] = load('range: 10.0.0.0/24').neighbors;
    expect(masters?.bfd).toEqual(byDefault);
    expect(tor?.bfd).toBe(false);
  });

  it('can be turned off with masters, and on with an upstream', () => {
    const [masters, tor] = load('range: 10.0.0.0/24, bfd: false', ', bfd: {}').neighbors;
    expect(masters?.bfd).toBe(false);
    expect(tor?.bfd).toEqual(byDefault);
  });

  it('takes the intervals that are asked for', () => {
    const bfd = 'bfd: { transmitInterval: 50ms, receiveInterval: 50ms, strict: true }';
    expect(load(`address: 10.0.0.11, ${bfd}`).neighbors[0]?.bfd).toEqual({
      ...byDefault,
      transmitInterval: 50,
      receiveInterval: 50,
      strict: true,
    });
  });

  it.each([
    ['range: 10.0.0.0/24, bfd: { strict: true }', 'cannot be had with a range'],
    ['address: 10.0.0.11, ttlSecurityHops: 2, bfd: { multihop: false }', 'contradicts ttlSecurityHops 2'],
    ['range: 10.0.0.0/24, bfd: { transmitInterval: 1ms }', 'transmitInterval'],
    ['range: 10.0.0.0/24, bfd: { detectMultiplier: 0 }', 'detectMultiplier'],
    ['range: 10.0.0.0/24, bfd: { interval: 50ms }', 'is not a known key'],
    ['range: 10.0.0.0/24, bfd: true', 'bfd'],
  ])('refuses %s', (ofMaster, message) => {
    expect(() => load(ofMaster)).toThrow(ConfigError);
    expect(() => load(ofMaster)).toThrow(message);
  });

  it('warns of graceful restart together with BFD, which drops what it keeps', () => {
    expect(configWarnings(load('range: 10.0.0.0/24', ', bfd: {}'))).toEqual([]);
    expect(configWarnings(load('range: 10.0.0.0/24', ', gracefulRestart: true'))).toEqual([]);
    expect(configWarnings(load('range: 10.0.0.0/24', ', bfd: {}, gracefulRestart: true'))).toEqual([
      expect.stringContaining('neighbor tor: graceful restart and BFD together'),
    ]);
  });
});
