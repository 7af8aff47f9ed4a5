import {
  asn,
  type ImportPolicy,
  type PathSource,
  parseIpAddress,
  parsePrefix,
  parseRouterId,
  pathAttributes,
} from '@bgp-lb/protocol';
import { describe, expect, it } from 'vitest';
import {
  internalImportPolicy,
  masterImportPolicy,
  rejectionClass,
  upstreamImportPolicy,
} from './import-policy.ts';

const master: PathSource = {
  name: 'm1',
  address: parseIpAddress('10.0.0.11'),
  routerId: parseRouterId('10.0.0.11'),
  asn: asn(64512),
  isInternal: true,
};
const policy = masterImportPolicy([parsePrefix('10.100.0.1/32'), parsePrefix('fd00::1/128')]);

function verdict(use: ImportPolicy, prefix: string, nextHop: string | undefined): string {
  const attributes = pathAttributes(nextHop === undefined ? {} : { nextHop: parseIpAddress(nextHop) });
  const result = use(parsePrefix(prefix), attributes, master);
  return result.accept ? 'accepted' : result.reason;
}

describe('the import policy for masters', () => {
  it('accepts a VIP with the peer as next hop', () => {
    expect(verdict(policy, '10.100.0.1/32', '10.0.0.11')).toBe('accepted');
  });

  it('drops a default route', () => {
    expect(verdict(policy, '0.0.0.0/0', '10.0.0.11')).toBe('not a configured VIP: 0.0.0.0/0');
  });

  it("drops another cluster's VIP", () => {
    expect(verdict(policy, '10.100.0.2/32', '10.0.0.11')).toBe('not a configured VIP: 10.100.0.2/32');
  });

  it('drops a prefix that covers the VIP, and one of another length', () => {
    expect(verdict(policy, '10.100.0.0/24', '10.0.0.11')).toContain('not a configured VIP');
    expect(verdict(policy, '10.100.0.1/31', '10.0.0.11')).toContain('not a configured VIP');
  });

  it('drops a VIP whose next hop is not the peer', () => {
    expect(verdict(policy, '10.100.0.1/32', '10.0.0.12')).toBe('next hop is not the peer: 10.0.0.12');
    expect(verdict(policy, '10.100.0.1/32', undefined)).toBe('next hop is not the peer: none');
  });

  it('drops an IPv6 VIP over an IPv4 session: its next hop is not the peer', () => {
    expect(verdict(policy, 'fd00::1/128', 'fd00:1::11')).toBe('next hop is not the peer: fd00:1::11');
  });
});

describe('the import policy for upstreams', () => {
  it('imports nothing, not even a VIP', () => {
    expect(verdict(upstreamImportPolicy, '10.100.0.1/32', '10.0.0.11')).toContain('nothing is imported');
  });
});

describe('the import policy for routers of our AS', () => {
  const internal = internalImportPolicy([parsePrefix('10.100.0.1/32')]);

  it('takes VIPs with any next hop, and nothing else', () => {
    expect(verdict(internal, '10.100.0.1/32', '10.0.0.12')).toBe('accepted');
    expect(verdict(internal, '0.0.0.0/0', '10.0.0.11')).toBe('not a configured VIP: 0.0.0.0/0');
  });
});

it('classes refusals without the values of the peer', () => {
  expect(rejectionClass('not a configured VIP: 0.0.0.0/0')).toBe('not a configured VIP');
  expect(rejectionClass('nothing is imported from an upstream')).toBe('nothing is imported from an upstream');
});
