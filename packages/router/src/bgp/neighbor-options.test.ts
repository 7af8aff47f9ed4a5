import { formatPrefix, ipv4Unicast, ipv6Unicast, type Prefix } from '@bgp-lb/protocol';
import { describe, expect, it } from 'vitest';
import type { NeighborConfig, RouterConfig } from '../config/router-config.ts';
import { routerSchema } from '../config/schema.ts';
import { type NeighborContext, type NeighborOptions, neighborOptions } from './neighbor-options.ts';

const bfdNonce = new Uint8Array(16);

function options(neighbor: Record<string, unknown>, isRestarting = false): NeighborOptions {
  const config: RouterConfig = routerSchema.parse({
    asn: 64512,
    vips: [{ address: '10.100.0.1' }],
    neighbors: [{ name: 'masters', role: 'master', range: '10.0.0.0/24', asn: 64512 }, neighbor],
  });
  const passwordOf = (name: string): string | undefined => {
    const file = config.neighbors.find((one) => one.name === name)?.passwordFile;
    return file && `read from ${file}`;
  };
  const isVip = (prefix: Prefix): boolean => formatPrefix(prefix) === '10.100.0.1/32';
  const context: NeighborContext = { config, isVip, passwordOf, bfdNonce, isRestarting };
  return neighborOptions(config.neighbors[1] as NeighborConfig, context);
}

describe('masters', () => {
  const base = { name: 'm', role: 'master', asn: 64512 };

  it('of a range connect to us, with MD5, GTSM and a cap', () => {
    const made = options({
      ...base,
      range: '10.1.0.0/24',
      passwordFile: '/etc/pw',
      maxSessions: 5,
      holdTime: '9s',
    });
    expect(made).toMatchObject({
      kind: 'range',
      options: {
        range: '10.1.0.0/24',
        maxSessions: 5,
        remoteAsn: [64512],
        holdTime: 9,
        socket: { password: 'read from /etc/pw', ttlSecurityHops: 1, userTimeout: 9000 },
      },
    });
  });

  it('are not offered what they do not know', () => {
    const withoutCapabilities = ['extended-message', 'four-octet-as'];
    expect(options({ ...base, range: '10.1.0.0/24', withoutCapabilities }).options).toMatchObject({
      routeRefresh: true,
      enhancedRouteRefresh: true,
      fourOctetAs: false,
      extendedMessage: false,
    });
  });

  it('have each capability left out by its name, and nothing else', () => {
    const neighbor = { ...base, range: '10.1.0.0/24' };
    const { options: all } = options(neighbor);
    const lacking = (name: string): unknown => options({ ...neighbor, withoutCapabilities: [name] }).options;
    const same = (made: unknown): unknown => JSON.parse(JSON.stringify(made));
    expect(same(lacking('multiprotocol'))).toEqual(same({ ...all, multiprotocol: false }));
    expect(same(lacking('route-refresh'))).toEqual(same({ ...all, routeRefresh: false }));
    expect(same(lacking('add-path'))).toEqual(same({ ...all, addPathSend: [], addPathReceive: [] }));
    expect(same(lacking('graceful-restart'))).toEqual(same({ ...all, gracefulRestart: undefined }));
  });

  it('by address are waited for too', () => {
    expect(options({ ...base, address: '10.1.0.11' })).toMatchObject({
      kind: 'peer',
      options: { address: '10.1.0.11', passive: true },
    });
  });

  it('keep their paths when their process dies, for the stale time of the pool', () => {
    expect(options({ ...base, address: '10.1.0.11' }).options).toMatchObject({
      retainPaths: 'always',
      staleTime: 60,
      gracefulRestart: { families: [ipv4Unicast] },
    });
  });

  it('are told that forwarding has outlived a restart of this process, where it has', () => {
    const master = { ...base, address: '10.1.0.11' };
    expect(options(master).options.gracefulRestart?.forwardingPreserved).toBe(false);
    expect(options(master, true).options.gracefulRestart?.forwardingPreserved).toBe(true);
  });

  it('are left alone when they announce too much, for as long as is configured', () => {
    const range = '10.1.0.0/24';
    expect(options({ ...base, range }).options).toMatchObject({ maxReceived: 1000, limitHold: 300 });
    const never = { ...base, range, maxPrefixes: 5, maxPrefixesRestart: 'never' };
    expect(options(never).options).toMatchObject({ maxReceived: 5, limitHold: Number.POSITIVE_INFINITY });
  });

  it('carry the family of their addresses only', () => {
    expect(options({ ...base, range: 'fd00::/64' }).options.families).toEqual([ipv6Unicast]);
    expect(options({ ...base, range: '10.1.0.0/24' }).options.families).toEqual([ipv4Unicast]);
  });

  it('have no GTSM where it is turned off', () => {
    expect(options({ ...base, address: '10.1.0.11', ttlSecurityHops: 0 }).options.socket).toEqual({
      userTimeout: 9000,
    });
  });
});

describe('a neighbor of any role', () => {
  it.each([
    { name: 'm', role: 'master', address: '10.1.0.11', asn: 64512 },
    { name: 't', role: 'upstream', address: '10.1.0.1', asn: 65001 },
    { name: 'i', role: 'internal', address: '10.1.0.20', asn: 64512 },
  ])('has nothing in its OPEN that it need not have: $role', (neighbor) => {
    const withoutCapabilities = [
      ...['multiprotocol', 'route-refresh', 'enhanced-route-refresh', 'four-octet-as'],
      ...['extended-message', 'add-path', 'graceful-restart'],
    ];
    const made = options({ ...neighbor, withoutCapabilities }).options;
    expect(made).toMatchObject({
      multiprotocol: false,
      routeRefresh: false,
      enhancedRouteRefresh: false,
      fourOctetAs: false,
      extendedMessage: false,
      addPathSend: [],
      addPathReceive: [],
    });
    expect(made).not.toHaveProperty('gracefulRestart');
  });
});

describe('upstreams', () => {
  const tor = { name: 'tor', role: 'upstream', address: '10.0.1.1', asn: 'external' };

  it('are connected to, with graceful restart and without GTSM', () => {
    const made = options(tor);
    expect(made).toMatchObject({
      kind: 'peer',
      options: { address: '10.0.1.1', port: 179, passive: false, remoteAsn: 'external' },
    });
    expect(made.options.gracefulRestart).toEqual({
      restartTime: 15,
      families: [ipv4Unicast],
      restarting: false,
    });
    expect(made.options.socket).toEqual({ userTimeout: 9000 });
  });

  it('are told of a restart that found forwarding in place', () => {
    expect(options(tor, true).options.gracefulRestart?.restarting).toBe(true);
  });

  it('with BFD are not asked to keep what BFD would drop, unless the operator says so', () => {
    expect(options({ ...tor, bfd: {} }).options.gracefulRestart).toBeUndefined();
    expect(options({ ...tor, bfd: {}, gracefulRestart: true }).options.gracefulRestart).toBeDefined();
    expect(options({ ...tor, gracefulRestart: false }).options.gracefulRestart).toBeUndefined();
  });

  it('carry the family of their address, and the other where there is a next hop for it', () => {
    expect(options(tor).options.families).toEqual([ipv4Unicast]);
    const both = [ipv4Unicast, ipv6Unicast];
    expect(options({ ...tor, otherNextHop: 'fd00:1::10' }).options).toMatchObject({
      families: both,
      addPathSend: both,
      gracefulRestart: { families: both },
    });
    const overIpv6 = { ...tor, address: 'fd00:1::1', otherNextHop: '10.0.1.10' };
    expect(options(overIpv6).options.families).toEqual([ipv6Unicast, ipv4Unicast]);
  });

  it('have their own paths dropped as theirs to keep', () => {
    expect(options(tor).options.retainPaths).toBeUndefined();
  });
});
