import { ConfigError, loadConfig } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import type { RouterConfig } from './router-config.ts';
import { API_VERSION, CONFIG_KIND, routerSchema } from './schema.ts';

const head = `apiVersion: ${API_VERSION}\nkind: ${CONFIG_KIND}\nasn: 64512\n`;
const masters = 'neighbors: [{ name: masters, role: master, range: 10.0.0.0/24, asn: 64512 }]\n';

function load(text: string): RouterConfig {
  const common = { schema: routerSchema, file: 'router.yaml', apiVersion: API_VERSION, kind: CONFIG_KIND };
  return loadConfig({ ...common, text: head + text }).config;
}

function refused(text: string): string {
  try {
    load(text);
  } catch (error) {
    if (error instanceof ConfigError) return String(error);
    throw error;
  }
  throw new Error('the configuration passed');
}

const vip = (members: string): string => `vips:\n  - address: 10.9.0.100\n    members: ${members}\n`;
const access = 'kubernetes: { kubeconfig: /etc/bgp-lb/kubeconfig }\n';

describe('where members come from', () => {
  it('is BGP when nothing is said', () => {
    expect(load(`vips: [{ address: 10.9.0.100 }]\n${masters}`).vips[0]?.members).toEqual({
      bgp: true,
      static: [],
    });
  });

  it('may be a list or a ConfigMap without any neighbor, and all together', () => {
    expect(load(vip('{ static: [{ address: 10.0.0.11 }] }')).neighbors).toEqual([]);
    expect(load(vip('{ configMap: { namespace: a, name: b } }') + access).kubernetes?.servers).toEqual([]);
    const all =
      '{ bgp: true, static: [{ name: m1, address: M2.Example.net., zone: a }], configMap: { namespace: a, name: b } }';
    expect(load(vip(all) + access + masters).vips[0]?.members.static).toEqual([
      { name: 'm1', address: 'm2.example.net', zone: 'a' },
    ]);
  });

  it.each([
    ['{ bgp: false }', masters, 'vips.0.members: has no source; allowed: bgp: true, or static'],
    ['{}', '', 'has no master of its address family among the neighbors'],
    ['{ statik: [] }', masters, 'vips.0.members.statik: is not a known key (static?)'],
    [
      '{ static: [{ address: 10.0.0.300 }] }',
      '',
      'static.0.address: is neither an IP address nor a host name',
    ],
    ['{ static: [{ address: "fd00::1" }] }', '', 'is of another address family than the VIP 10.9.0.100'],
    ['{ static: [{ address: 10.9.0.100 }] }', '', 'static.0.address: is a VIP'],
    ['{ static: [{ address: 10.0.0.1 }, { address: 10.0.0.1 }] }', '', 'static.1.address: is there twice'],
    ['{ static: [{ address: 10.0.0.1, zon: a }] }', '', 'static.0.zon: is not a known key (zone?)'],
    ['{ configMap: { namespace: a, name: b } }', '', 'configMap: needs the Kubernetes API'],
    ['{ configMap: { namespace: A, name: b } }', access, 'namespace: is no name of Kubernetes'],
    ['{}', `${masters}kubernetes: {}\n`, 'kubernetes: has neither a kubeconfig nor caFile and tokenFile'],
    ['{}', `${masters}kubernetes: { caFile: /a, tokenFile: /b }\n`, 'kubernetes: has a token and no servers'],
    ['{}', `${masters}kubernetes: { kubeconfig: /a, tokenFile: /b }\n`, 'one of these besides'],
    [
      '{}',
      `${masters}kubernetes: { kubeconfig: /a, servers: ["http://x"] }\n`,
      'servers.0: is no URL with https',
    ],
  ])('is refused when it cannot work: %s %s', (members, more, text) => {
    expect(refused(vip(members) + more)).toContain(text);
  });
});
