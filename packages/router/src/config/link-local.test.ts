import { ConfigError, loadConfig } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import type { RouterConfig } from './router-config.ts';
import { API_VERSION, CONFIG_KIND, routerSchema } from './schema.ts';

const head = `apiVersion: ${API_VERSION}\nkind: ${CONFIG_KIND}\nasn: 64512\nvips: [{ address: "fd00::64" }]\nneighbors:\n`;
const master = (name: string, address: string, more = ''): string =>
  `  - { name: ${name}, role: master, address: "${address}", asn: 64512${more} }\n`;
const tor = (address: string, more = ''): string =>
  `  - { name: tor-${address.slice(-1)}, role: upstream, address: "${address}", asn: 65001${more} }\n`;

function load(neighbors: string): RouterConfig {
  return loadConfig({
    schema: routerSchema,
    file: 'router.yaml',
    text: head + neighbors,
    argv: {},
    apiVersion: API_VERSION,
    kind: CONFIG_KIND,
  }).config;
}

function refused(neighbors: string): string {
  try {
    load(neighbors);
  } catch (error) {
    if (error instanceof ConfigError) return String(error);
    throw error;
  }
  throw new Error('the configuration passed');
}

describe('a link-local neighbor', () => {
  it('has its interface with it, in one spelling', () => {
    const { neighbors } = load(master('m1', 'FE80::11%eth0') + tor('fe80::1%eth1'));
    expect(neighbors.map(({ address }) => address)).toEqual(['fe80::11%eth0', 'fe80::1%eth1']);
  });

  it('may have the address of another one on another link', () => {
    expect(
      load(master('m1', 'fe80::11%eth0') + tor('fe80::1%eth1') + tor('fe80::1%eth2')).neighbors,
    ).toHaveLength(3);
  });

  it.each([
    ['is a link-local address, which means nothing without its link', master('m1', 'fe80::11')],
    ['has a zone, and is not link-local', master('m1', 'fd00::11%eth0')],
    ['is there twice', master('m1', 'fe80::11%eth0') + tor('fe80::11%eth0')],
    [
      'cannot be with the link-local address fe80::11%eth0, which is on this link or nowhere',
      master('m1', 'fe80::11%eth0', ', ttlSecurityHops: 2'),
    ],
    [
      'cannot be with the link-local address fe80::11%eth0, which is on this link or nowhere',
      master('m1', 'fe80::11%eth0', ', bfd: { multihop: true }'),
    ],
    [
      'has the address of m1 on another link: masters are told apart by it',
      master('m1', 'fe80::11%eth0') + master('m2', 'fe80::11%eth1'),
    ],
    [
      'has the address of tor-1 on another link, and another password: the kernel has one for both',
      master('m1', 'fe80::11%eth0') +
        tor('fe80::1%eth1') +
        tor('fe80::1%eth2', ', passwordFile: /etc/bgp-lb/x'),
    ],
    [
      'cannot be: m1 is link-local (fe80::11%eth0), and this upstream is not on its link',
      master('m1', 'fe80::11%eth0') + tor('fe80::1%eth1', ', nextHop: unchanged'),
    ],
  ])('is refused where it cannot work: %s', (message, neighbors) => {
    expect(refused(neighbors)).toContain(message);
  });
});
