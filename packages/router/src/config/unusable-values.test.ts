import { ConfigError, loadConfig } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { API_VERSION, CONFIG_KIND, routerSchema } from './schema.ts';

/** A configuration that is good, of which a case changes one place. */
const good = `apiVersion: ${API_VERSION}
kind: ${CONFIG_KIND}
asn: 64512
vips: [{ address: 10.9.0.100 }]
neighbors:
  - { name: masters, role: master, range: 10.0.0.0/24, asn: 64512 }
  - { name: m4, role: master, address: 10.0.4.1, asn: 64512, memberAddress: peer }
  - { name: tor, role: upstream, address: 10.0.1.1, asn: 65001, nextHop: self }
`;

function faultsOf(text: string): string {
  try {
    loadConfig({
      schema: routerSchema,
      file: 'router.yaml',
      text,
      apiVersion: API_VERSION,
      kind: CONFIG_KIND,
    });
  } catch (error) {
    if (error instanceof ConfigError) return String(error);
    throw error;
  }
  return '';
}

const end = (more: string) => ['nextHop: self }\n', `nextHop: self }\n${more}\n`] as const;

describe('a value that cannot work', () => {
  it('is none of those of a good configuration', () => {
    expect(faultsOf(good)).toBe('');
  });

  it.each<readonly [found: string, replacement: string, fault: string]>([
    ...['127.0.0.1', '224.0.0.1', '255.255.255.255', '0.0.0.0', '"::1"', '"ff02::1"'].map(
      (vip) => ['10.9.0.100', vip, 'vips.0.address: is '] as const,
    ),
    ['10.0.1.1', '127.0.0.1', 'neighbors.2.address: is a loopback address'],
    ['10.0.1.1', '0.0.0.0', 'neighbors.2.address: is the unspecified address'],
    ['10.0.4.1', '224.0.0.9', 'neighbors.1.address: is a multicast address'],
    ['memberAddress: peer', 'memberAddress: 127.0.0.1', 'is a loopback address'],
    ['nextHop: self', 'nextHop: self, otherNextHop: "ff02::1"', 'is a multicast address'],
    ['10.0.0.0/24', '0.0.0.0/0', 'neighbors.0.range: contains 0.0.0.0/32'],
    ['10.0.0.0/24', '"::/0"', 'neighbors.0.range: contains ::/128'],
    ['10.0.0.0/24', '224.0.0.0/4', 'neighbors.0.range: lies in 224.0.0.0/4'],
    ['asn: 65001', 'asn: 64512', 'neighbors.2.asn: is our own AS'],
    ['asn: 64512\nvips', 'asn: 65535\nvips', 'asn: AS 65535 is reserved (RFC 7300)'],
    ['asn: 64512\nvips', 'asn: 0\nvips', 'asn: AS 0 is reserved (RFC 7607)'],
    ['asn: 64512\nvips', 'asn: 23456\nvips', 'asn: AS 23456 is AS_TRANS'],
    ['10.9.0.100 }', '10.9.0.100, machinePort: 179 }', 'vips.0.machinePort: is the port of BGP'],
    ['10.9.0.100 }', '10.9.0.100, port: 179 }', 'vips.0.port: is the port of BGP'],
    [...end('routerId: 224.0.0.1'), 'routerId: is a multicast address'],
    [...end('routerId: 0.0.0.0'), 'routerId: is the unspecified address'],
    [...end('routerId: 10.0.4.1'), 'is the address of neighbor m4'],
    [...end('listen: { addresses: [224.0.0.1] }'), 'listen.addresses.0: is a multicast address'],
    [...end('listen: { addresses: [10.0.1.1] }'), 'it is this router itself'],
    [...end('listen: { port: 9474 }'), 'api.listen: is the port of BGP (listen.port) too'],
    [...end('dataplane: { table: 255 }'), 'dataplane.table: is table local'],
    [...end('clusterId: 0.0.0.0'), 'clusterId: is no CLUSTER_ID'],
    [...end('pool: { flapHold: 5m }'), 'pool.flapHold: is longer than flapHoldMax'],
    [...end('healthCheck: { timeout: 30s }'), 'healthCheck.timeout: is too long beside the interval of 1s'],
    [...end(`api: { socket: /${'x'.repeat(107)} }`), 'has 108 octets, too many for a Unix socket'],
  ])('is refused: %s as %s', (found, replacement, fault) => {
    const text = good.replace(found, replacement);
    expect(text).not.toBe(good);
    expect(faultsOf(text)).toContain(fault);
  });

  it.each([
    ['name: tor', 'name: -x', 'is not a name', 'letters, digits, dots, hyphens and underscores'],
    [...end('healthCheck: { path: readyz }'), 'is not a request path', 'begins with a slash'],
    [...end('dataplane: { proxyInterfaces: [a/b] }'), 'is not an interface name', 'without a space, a slash'],
  ])('is explained in words: %s as %s', (found, replacement, fault, allowed) => {
    const text = faultsOf(good.replace(found, replacement));
    expect(text).toContain(fault);
    expect(text).toContain(allowed);
    expect(text).not.toMatch(/\/\^|matches/);
  });
});
