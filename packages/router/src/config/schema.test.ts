import { ConfigError, loadConfig } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { configWarnings } from './config-warnings.ts';
import type { RouterConfig } from './router-config.ts';
import { API_VERSION, CONFIG_KIND, routerSchema } from './schema.ts';

const head = `apiVersion: ${API_VERSION}\nkind: ${CONFIG_KIND}\nasn: 64512\n`;
const vips = 'vips:\n  - { address: 10.0.0.100 }\n';
const masters = 'neighbors:\n  - { name: masters, role: master, range: 10.0.0.0/24, asn: 64512 }\n';

function load(text: string, argv: Record<string, unknown> = {}): RouterConfig {
  return loadConfig({
    schema: routerSchema,
    file: 'router.yaml',
    text,
    argv,
    apiVersion: API_VERSION,
    kind: CONFIG_KIND,
  }).config;
}

/** The error text of a configuration that must not pass. */
function refused(text: string): string {
  try {
    load(text);
  } catch (error) {
    if (error instanceof ConfigError) {
      return String(error);
    }
    throw error;
  }
  throw new Error('the configuration passed');
}

describe('warnings of the configuration', () => {
  it.each([
    ['', 'VIP 10.0.0.100: lies in the range 10.0.0.0/24 of masters, and dataplane.proxyInterfaces is empty'],
    [
      'dataplane: { proxyInterfaces: [eth0] }\napi: { listen: "0.0.0.0:9474" }\n',
      'api.listen 0.0.0.0:9474: every host that reaches this one may read',
    ],
  ])('tell of what works and is seldom wanted: %j', (more, warning) => {
    expect(configWarnings(load(head + vips + masters + more))).toEqual([expect.stringContaining(warning)]);
  });
});

describe('a VIP that no upstream hears of', () => {
  const both = `vips: [{ address: 10.9.0.100 }, { address: "fd09::64" }]\n${masters}  - { name: masters6, role: master, range: "fd00::/64", asn: 64512 }\n`;
  const tor = (more = ''): string =>
    `  - { name: tor, role: upstream, address: 10.0.1.1, asn: 65001${more} }\n`;

  it.each([
    [
      'is worth a warning',
      tor(),
      ['VIP fd09::64: no upstream hears of it: none has an IPv6 session, or otherNextHop'],
    ],
    ['is no such where the session has a next hop for it', tor(', otherNextHop: "fd00:1::10"'), []],
    ['is no such where nobody upstream speaks BGP', '', []],
  ])('%s', (_, upstream, warnings) => {
    expect(configWarnings(load(head + both + upstream))).toEqual(warnings);
  });
});

describe('the configuration', () => {
  it('needs no more than AS, VIP and masters', () => {
    expect(load(head + vips + masters)).toMatchObject({
      vips: [{ address: '10.0.0.100', port: 6443, machinePort: 6443 }],
      neighbors: [{ holdTime: 9000, ttlSecurityHops: 1, maxSessions: 16 }],
      listen: { addresses: ['0.0.0.0', '::'], port: 179 },
      healthCheck: {
        path: '/readyz',
        interval: 1000,
        timeout: 1000,
        rise: 2,
        fall: 3,
        caFile: '/etc/bgp-lb/ca.crt',
      },
      pool: {
        panicThreshold: 0.5,
        evictAfter: 15_000,
        staleTime: 60_000,
        initialHold: 2000,
        flapHold: 2000,
        flapHoldMax: 120_000,
        flapDecay: 300_000,
        identities: [],
      },
      dataplane: { kind: 'kernel', buckets: 4096, idleTimer: 120_000, table: 254, protocol: 84 },
      api: { socket: '/run/bgp-lb/router.sock', listen: { host: '127.0.0.1', port: 9474 } },
      manageSysctls: true,
      stateDir: '/var/lib/bgp-lb',
    });
  });

  it('takes flags over the file', () => {
    expect(load(head + vips + masters, { 'dataplane.buckets': '1024' }).dataplane).toMatchObject({
      buckets: 1024,
    });
  });

  it('takes a list of AS numbers and external', () => {
    const upstream = (asn: string) =>
      load(`${head}${vips}${masters}  - { name: tor, role: upstream, address: 10.0.1.1, asn: ${asn} }\n`)
        .neighbors[1];
    expect(upstream('[65001, 65002]')?.asn).toEqual([65001, 65002]);
    expect(upstream('external')?.asn).toBe('external');
    expect(upstream('65001')).toMatchObject({
      port: 179,
      passive: false,
      ttlSecurityHops: 0,
      nextHop: 'self',
    });
  });

  it.each([
    [
      'an upstream without address',
      `${head}${vips}${masters}  - { name: tor, role: upstream, asn: 65001 }\n`,
      'address',
    ],
    [
      'an internal router in another AS',
      `${head}${vips}${masters}  - { name: lb2, role: internal, address: 10.0.0.9, asn: 65001 }\n`,
      'is not our own AS',
    ],
    [
      'a neighbor without a password inside a range that has one',
      `${head}${vips}neighbors:\n  - { name: m, role: master, range: 10.0.0.0/24, asn: 64512, passwordFile: /etc/pw }\n  - { name: lb2, role: internal, address: 10.0.0.9, asn: 64512, passive: true }\n`,
      'lies in the range of m, which has a password',
    ],
    [
      'masters with range and address',
      `${head}${vips}neighbors:\n  - { name: m, role: master, range: 10.0.0.0/24, address: 10.0.0.11, asn: 64512 }\n`,
      'has both range and address',
    ],
    [
      'masters with neither',
      `${head}${vips}neighbors:\n  - { name: m, role: master, asn: 64512 }\n`,
      'has neither range nor address',
    ],
    [
      'a VIP that is a neighbor',
      `${head}${vips}neighbors:\n  - { name: m, role: master, address: 10.0.0.100, asn: 64512 }\n`,
      'is a VIP',
    ],
    [
      'ranges that overlap',
      `${head}${vips}${masters}  - { name: more, role: master, range: 10.0.0.128/25, asn: 64512 }\n`,
      'overlaps the range of masters (10.0.0.0/24)',
    ],
    [
      'a name twice',
      `${head}${vips}${masters}  - { name: masters, role: upstream, address: 10.0.1.1, asn: 65001 }\n`,
      'is there twice',
    ],
    [
      'a VIP twice',
      `${head}vips: [{ address: 10.0.0.100 }, { address: 10.0.0.100 }]\n${masters}`,
      'is there twice',
    ],
    [
      'a VIP of a family without masters',
      `${head}vips: [{ address: "fd00::1" }]\n${masters}`,
      'has no master of its address family',
    ],
    [
      'an upstream that no VIP is for',
      `${head}${vips}${masters}  - { name: tor, role: upstream, address: "fd00::1", asn: 65001 }\n`,
      'gets no VIP: an IPv6 session carries IPv6 VIPs, and there is none',
    ],
    [
      'a next hop for the other family that is not of it',
      `${head}${vips}${masters}  - { name: tor, role: upstream, address: 10.0.1.1, asn: 65001, otherNextHop: 10.0.1.10 }\n`,
      'is of the family of 10.0.1.1',
    ],
    [
      'a well-known community that masters might pass on',
      `${head}${vips}${masters}  - { name: tor, role: upstream, address: 10.0.1.1, asn: 65001, nextHop: unchanged, passCommunities: ["65535:666"] }\n`,
      'is well-known',
    ],
    [
      'communities to pass on where no path of a master is',
      `${head}${vips}${masters}  - { name: tor, role: upstream, address: 10.0.1.1, asn: 65001, passCommunities: ["64512:1"] }\n`,
      'has no effect with nextHop self',
    ],
    [
      'a next hop of ours where the masters are to be the next hops',
      `${head}${vips}${masters}  - { name: tor, role: upstream, address: "fd00::1", asn: 65001, nextHop: unchanged, otherNextHop: 10.0.1.10 }\n`,
      'is not used with nextHop unchanged',
    ],
    [
      'a next hop that is the VIP',
      `${head}${vips}${masters}  - { name: tor, role: upstream, address: "fd00::1", asn: 65001, otherNextHop: 10.0.0.100 }\n`,
      'is a VIP',
    ],
    [
      'one member address for a range',
      `${head}${vips}neighbors:\n  - { name: m, role: master, range: 10.0.0.0/24, asn: 64512, memberAddress: 10.9.0.1 }\n`,
      'cannot be had with a range',
    ],
    [
      'a member address that is the VIP',
      `${head}${vips}neighbors:\n  - { name: m, role: master, address: 10.0.0.11, asn: 64512, memberAddress: 10.0.0.100 }\n`,
      'is a VIP',
    ],
    [
      'a member address of another family',
      `${head}${vips}neighbors:\n  - { name: m, role: master, address: 10.0.0.11, asn: 64512, memberAddress: "fd00::1" }\n`,
      'is of another address family',
    ],
    [
      'a member address that another master has',
      `${head}${vips}neighbors:\n  - { name: m, role: master, address: 10.0.0.11, asn: 64512, memberAddress: 10.0.0.12 }\n  - { name: n, role: master, address: 10.0.0.12, asn: 64512 }\n`,
      'is the address of another master',
    ],
    [
      'an upstream in our own AS',
      `${head}${vips}${masters}  - { name: tor, role: upstream, address: 10.0.1.1, asn: [65001, 64512] }\n`,
      'is our own AS, and an upstream is in another',
    ],
    ['an unknown key', `${head}${vips}${masters}bfd: {}\n`, 'is not a known key'],
    [
      'the protocol number of zebra',
      `${head}${vips}${masters}dataplane: { protocol: 186 }\n`,
      'another routing daemon',
    ],
    [
      'a data plane of another kind',
      `${head}${vips}${masters}dataplane: { kind: nftables }\n`,
      'dataplane.kind: is not one of the allowed values, got "nftables"; allowed: kernel, or haproxy',
    ],
    ['a duration without unit', `${head}${vips}${masters}pool: { evictAfter: 15 }\n`, 'evictAfter'],
  ])('refuses %s, with file, line and column', (_, text, message) => {
    const error = refused(text);
    expect(error).toContain(message);
    expect(error).toMatch(/^router\.yaml:\d+:\d+: /);
  });
});
