import { ConfigError, loadConfig } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { speakerSchema } from './schema.ts';
import { API_VERSION, KIND } from './speaker-config.ts';

/** The text of the faults of a speaker with these routers; empty when there is none. */
function faults(routers: string, apiServer = 'fd00::11'): string {
  const address = apiServer === '' ? '' : `apiServer: { address: "${apiServer}" }\n`;
  const text = `apiVersion: ${API_VERSION}\nkind: ${KIND}\nrole: join\nasn: 64512\nvips: [{ address: "fd00::64" }]\n${address}routers: [${routers}]\n`;
  try {
    loadConfig({ schema: speakerSchema, file: 'speaker.yaml', text, apiVersion: API_VERSION, kind: KIND });
  } catch (error) {
    if (error instanceof ConfigError) return error.toString();
    throw error;
  }
  return '';
}

describe('a link-local router', () => {
  it.each([
    '{ address: "fe80::10%eth0", asn: 64512 }',
    '{ address: "fe80::10%eth0", asn: 64512, sourceAddress: "fe80::11%eth0" }',
    '{ address: "fe80::1%eth0", asn: 64512 }, { address: "fe80::1%eth1", asn: 64512 }',
  ])('is taken with its interface: %s', (routers) => {
    expect(faults(routers)).toBe('');
  });

  it.each([
    ['{ address: "fe80::10", asn: 64512 }', 'which means nothing without its link'],
    ['{ address: "fe80::10%eth0", asn: 64512, sourceAddress: "fd00::11" }', 'a link-local address on eth0'],
    [
      '{ address: "fe80::10%eth0", asn: 64512, sourceAddress: "fe80::11%eth1" }',
      'cannot be with the address fe80::10%eth0',
    ],
    ['{ address: "fd00::10", asn: 64512, sourceAddress: "fe80::11%eth0" }', 'a global address'],
    ['{ address: "fe80::10%eth0", asn: 64512, ttlSecurityHops: 3 }', 'which is on this link or nowhere'],
    ['{ address: "fe80::10%eth0", asn: 64512, bfd: { multihop: true } }', 'which is on this link or nowhere'],
    [
      '{ address: "fe80::1%eth0", asn: 64512 }, { address: "fe80::1%eth1", asn: 64512, passwordFile: /x }',
      'is that of fe80::1%eth0 on another link, with another password',
    ],
  ])('is refused where it cannot work: %s', (routers, message) => {
    expect(faults(routers)).toContain(message);
  });

  it('leaves open which address the API server has', () => {
    expect(faults('{ address: "fe80::10%eth0", asn: 64512 }', '')).toContain(
      'is not set, and all routers are link-local',
    );
    const both = '{ address: "fe80::10%eth0", asn: 64512 }, { address: "fd00::10", asn: 64512 }';
    expect(faults(both, '')).toBe('');
  });
});
