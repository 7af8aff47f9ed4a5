import {
  asn,
  formatPrefix,
  type ImportPolicy,
  type PathAttributes,
  type PathSource,
  type Prefix,
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
const isVip = (prefix: Prefix): boolean => ['10.100.0.1/32', 'fd00::1/128'].includes(formatPrefix(prefix));
const policy = masterImportPolicy(isVip);

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

describe('a master of an IPv6 session', () => {
  const peer: PathSource = { ...master, address: parseIpAddress('fd00:1::11') };

  it.each([undefined, 'fe80::11', 'fe80::66'])(
    'is forwarded to by the address of its session, whatever comes beside it: %s',
    (linkLocal) => {
      const attributes = pathAttributes({
        nextHop: parseIpAddress('fd00:1:0::11'),
        linkLocalNextHop: linkLocal === undefined ? undefined : parseIpAddress(linkLocal),
      });
      expect(policy(parsePrefix('fd00::1/128'), attributes, peer)).toMatchObject({
        accept: true,
        attributes: { nextHop: peer.address, linkLocalNextHop: undefined },
      });
    },
  );
});

describe('a master of a session between link-local addresses (RFC 2545 section 3)', () => {
  const peer: PathSource = { ...master, address: parseIpAddress('fe80::11'), zone: 'eth0' };

  it.each([
    ['alone in 16 octets', 'fe80::11', undefined],
    ['beside a global one', 'fd00:1::11', 'fe80::11'],
    ['twice, as FRR sends it', 'fe80::11', 'fe80::11'],
  ])('is forwarded to by that address: %s', (_, nextHop, linkLocal) => {
    const attributes = pathAttributes({
      nextHop: parseIpAddress(nextHop),
      linkLocalNextHop: linkLocal === undefined ? undefined : parseIpAddress(linkLocal),
    });
    expect(policy(parsePrefix('fd00::1/128'), attributes, peer)).toMatchObject({
      accept: true,
      attributes: { nextHop: peer.address, linkLocalNextHop: undefined },
    });
  });

  it.each([
    ['fe80::66', undefined, 'fe80::66'],
    ['fe80::11', 'fe80::66', 'fe80::66'],
    ['fd00:1::11', undefined, 'fd00:1::11'],
  ])('is not taken with another one: %s %s', (nextHop, linkLocal, told) => {
    const attributes = pathAttributes({
      nextHop: parseIpAddress(nextHop),
      linkLocalNextHop: linkLocal === undefined ? undefined : parseIpAddress(linkLocal),
    });
    expect(policy(parsePrefix('fd00::1/128'), attributes, peer)).toEqual({
      accept: false,
      reason: `next hop is not the peer: ${told}`,
    });
  });
});

describe('a next hop that is a link-local address alone', () => {
  const attributes = pathAttributes({ nextHop: parseIpAddress('fe80::11') });

  it('is refused over the session of a global address: nobody says on which link it is', () => {
    const peer: PathSource = { ...master, address: parseIpAddress('fd00:1::11') };
    expect(policy(parsePrefix('fd00::1/128'), attributes, peer)).toEqual({
      accept: false,
      reason: 'next hop is not the peer: fe80::11',
    });
  });
});

describe('a master whose member address is given', () => {
  const [other] = [parseIpAddress('10.9.0.11')];
  const use = masterImportPolicy(isVip, other);

  it.each(['10.0.0.11', '10.9.0.11'])(
    'is taken with the next hop %s, and forwarded to by that address',
    (nextHop) => {
      const attributes = pathAttributes({ nextHop: parseIpAddress(nextHop) });
      const result = use(parsePrefix('10.100.0.1/32'), attributes, master);
      expect(result).toMatchObject({ accept: true, attributes: { nextHop: other } });
    },
  );

  it('is not taken with any other', () => {
    expect(verdict(use, '10.100.0.1/32', '10.9.0.12')).toBe('next hop is not the peer: 10.9.0.12');
  });
});

describe('what a master says of itself', () => {
  const from = (fields: Partial<PathAttributes>): unknown => {
    const attributes = pathAttributes({ nextHop: master.address, ...fields });
    const result = policy(parsePrefix('10.100.0.1/32'), attributes, master);
    return result.accept ? result.attributes : result.reason;
  };
  const plain = from({ localPref: 100 });

  it('makes it no better than the others', () => {
    expect(from({ localPref: 4_000_000_000, multiExitDisc: 0, origin: 2 })).toEqual(plain);
    expect(from({ localPref: 1, multiExitDisc: 7, origin: 1 })).toEqual(plain);
  });

  it('is not passed on where nobody here knows what it means', () => {
    const raw = { code: 200, flags: 0xe0, value: Uint8Array.of(1, 2, 3) };
    const aggregator = { asn: asn(64512), address: master.address };
    expect(from({ localPref: 100, unknown: [raw], atomicAggregate: true, aggregator })).toEqual(plain);
  });

  it('is heard where it asks for less, and where it says why or which cluster it is of', () => {
    const communities = [0xffff0000];
    const largeCommunities = [{ globalAdministrator: 64512, localData1: 2, localData2: 1 }];
    expect(from({ localPref: 0, communities, largeCommunities })).toMatchObject({
      localPref: 0,
      communities,
      largeCommunities,
    });
  });
});

describe('the import policy for upstreams', () => {
  it('imports nothing, not even a VIP', () => {
    expect(verdict(upstreamImportPolicy, '10.100.0.1/32', '10.0.0.11')).toContain('nothing is imported');
  });
});

describe('the import policy for routers of our AS', () => {
  const internal = internalImportPolicy(isVip);

  it('takes VIPs with any next hop, and nothing else', () => {
    expect(verdict(internal, '10.100.0.1/32', '10.0.0.12')).toBe('accepted');
    expect(verdict(internal, '0.0.0.0/0', '10.0.0.11')).toBe('not a configured VIP: 0.0.0.0/0');
  });
});

it('classes refusals without the values of the peer', () => {
  expect(rejectionClass('not a configured VIP: 0.0.0.0/0')).toBe('not a configured VIP');
  expect(rejectionClass('nothing is imported from an upstream')).toBe('nothing is imported from an upstream');
});
