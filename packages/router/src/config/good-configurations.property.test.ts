import { mkdtempSync, rmSync } from 'node:fs';
import { BlockList } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, createLogger, loadConfig } from '@bgp-lb/daemon';
import { asn, ipVersion, parseRouterId } from '@bgp-lb/protocol';
import { BgpSpeaker } from '@bgp-lb/protocol/node';
import { ManualClock, MemoryNetwork } from '@bgp-lb/protocol/testing';
import * as fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { withChoice } from '../auto/chosen-config.ts';
import { BgpNeighbors } from '../bgp/bgp-neighbors.ts';
import { VipPools } from '../pool/vip-pools.ts';
import { makeRouterParts } from '../router-parts.ts';
import type { NeighborConfig, RouterConfig } from './router-config.ts';
import { API_VERSION, CONFIG_KIND, routerSchema } from './schema.ts';

const ROUTER = '192.0.2.1';
const stateDir = mkdtempSync(join(tmpdir(), 'bgp-lb-good-'));
afterAll(() => rmSync(stateDir, { recursive: true }));

/** What Linux connects to no other host by, as the test knows it. */
const noHost = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['224.0.0.0', 3],
] as const)
  noHost.addSubnet(net, bits);
for (const one of ['::', '::1']) noHost.addAddress(one, 'ipv6');
noHost.addSubnet('ff00::', 8, 'ipv6');

const isHost = (address: string): boolean =>
  !noHost.check(address, ipVersion(address) === 6 ? 'ipv6' : 'ipv4');

const odd = [
  '0.0.0.0',
  '127.0.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '0.0.0.1',
  '240.0.0.1',
  '::1',
  'ff02::1',
];
/** Most often one of those that work, so that whole configurations do. */
const mostly = <T>(good: readonly T[], bad: readonly T[]) =>
  fc.oneof({ weight: 15, arbitrary: fc.constantFrom(...good) }, fc.constantFrom(...bad));
const address = (...good: string[]) => mostly(good, [...odd, '10.0.1.1']);
const number = (...good: number[]) => mostly(good, [0, 23456, 65535, 64512, 4294967295]);

const session = { holdTime: fc.constantFrom('3s', '9s', '90s'), addPath: fc.boolean() };
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });

const drawn = fc.record({
  asn: number(64513, 65000, 4_200_000_000),
  routerId: optional(address('192.0.2.1', '192.0.2.9')),
  clusterId: optional(mostly(['192.0.2.1', '0.0.0.1', '224.0.0.1', '255.255.255.255'], ['0.0.0.0'])),
  listen: optional(
    fc.record({ addresses: fc.uniqueArray(address('0.0.0.0', ROUTER), { minLength: 1, maxLength: 2 }) }),
  ),
  vips: fc.array(
    fc.record({ address: address('10.9.0.100', '10.9.0.101'), machinePort: mostly([6443, 443], [179]) }),
    { minLength: 1, maxLength: 2 },
  ),
  masters: fc.oneof(
    fc.record({ range: mostly(['10.0.0.0/24'], ['0.0.0.0/0', '224.0.0.0/4', '127.0.0.0/8']) }),
    fc.record({ address: address('10.0.0.11') }),
  ),
  upstream: optional(fc.record({ address: address('10.0.1.1', '10.0.1.2'), asn: number(65001), ...session })),
  pool: fc.record({ flapHold: mostly(['0s', '2s'], ['3m']), flapHoldMax: mostly(['2m', '5m'], ['1s']) }),
  healthCheck: fc.record({ timeout: mostly(['1s', '3s'], ['30s']) }),
  table: mostly([254, 100], [255, 0]),
});

/** The configuration when `check-config` calls it good. */
function good({
  masters,
  upstream,
  table,
  ...rest
}: typeof drawn extends fc.Arbitrary<infer T> ? T : never): RouterConfig | undefined {
  const neighbors = [
    { name: 'masters', role: 'master', asn: rest.asn, ...masters },
    ...(upstream === undefined ? [] : [{ name: 'tor', role: 'upstream', ...upstream }]),
  ];
  const document = {
    apiVersion: API_VERSION,
    kind: CONFIG_KIND,
    ...rest,
    neighbors,
    dataplane: { table },
    stateDir,
  };
  const text = JSON.stringify(document);
  const common = { schema: routerSchema, file: 'drawn', text, apiVersion: API_VERSION, kind: CONFIG_KIND };
  try {
    return loadConfig(common).config;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** Where a neighbor is in the network of the test: a speaker's BGP Identifier is its address. */
function placeOf(neighbor: NeighborConfig): string {
  const range = neighbor.role === 'master' ? neighbor.range : undefined;
  return neighbor.address ?? `${range?.split('/')[0]?.replace(/0$/, '7')}`;
}

it('each configuration that is called good starts, and gets a session with each of its neighbors', async () => {
  let started = 0;
  await fc.assert(
    fc.asyncProperty(drawn, async (values) => {
      const config = good(values);
      if (config === undefined) return;
      started += 1;
      // All that the router consists of takes it; what reaches for the host begins with `start`.
      const chosen = withChoice(config, undefined);
      makeRouterParts({
        config: chosen,
        reread: () => chosen,
        program: new URL('file:///none'),
        logger: createLogger('error'),
        version: '0',
      });
      const clock = new ManualClock();
      const network = new MemoryNetwork();
      const places = [
        ...config.neighbors.map(placeOf),
        ...config.listen.addresses.filter((one) => one !== '0.0.0.0'),
      ];
      for (const place of places.filter((one) => !isHost(one) && one !== '::')) network.dead.add(place);
      const own = parseRouterId(config.routerId ?? ROUTER);
      const router = new BgpNeighbors({
        asn: asn(config.asn),
        routerId: own,
        clusterId: config.clusterId === undefined ? own : parseRouterId(config.clusterId),
        isUsable: () => true,
        neighbors: config.neighbors,
        listen: config.listen,
        context: { config },
        vips: config.vips.map((vip) => vip.address),
        readPassword: () => 'secret',
        sockets: network.host(ROUTER),
        clock,
        observe: () => undefined,
        observeRoutes: () => undefined,
        established: () => undefined,
        down: () => undefined,
        onSkippedListener: (skipped, reason) => expect.unreachable(`${skipped}: ${reason}`),
      });
      expect(new VipPools(config).all.size).toBe(config.vips.length);
      await router.start();
      const others = await Promise.all(
        config.neighbors.map((one) => startNeighbor(one, config, network, clock)),
      );
      try {
        await clock.advance(20_000);
        const states = router.peers().map(({ peer, neighbor }) => `${neighbor.name} ${peer.state}`);
        expect(states.sort()).toEqual(config.neighbors.map(({ name }) => `${name} Established`));
        for (const vip of config.vips) expect(isHost(vip.address)).toBe(true);
        // 255 is `local` of rtnetlink.h: a route there makes the VIP an address of the load balancer.
        expect(config.dataplane).not.toMatchObject({ table: 255 });
        expect(config.pool.flapHold).toBeLessThanOrEqual(config.pool.flapHoldMax);
      } finally {
        await Promise.all([router.stop(), ...others.map((one) => one.close())]);
      }
    }),
    { numRuns: 300 },
  );
  expect(started, 'configurations that were called good').toBeGreaterThan(20);
});

/** The other end, as the configuration of the router says that it is. */
async function startNeighbor(
  neighbor: NeighborConfig,
  config: RouterConfig,
  network: MemoryNetwork,
  clock: ManualClock,
): Promise<BgpSpeaker> {
  const place = placeOf(neighbor);
  const speaker = new BgpSpeaker({
    asn: asn(Number([neighbor.asn].flat()[0])),
    routerId: parseRouterId(place),
    sockets: network.host(place),
    clock,
    handlers: {},
  });
  const isMaster = neighbor.role === 'master';
  speaker.addPeer({
    name: 'router',
    address: ROUTER,
    remoteAsn: [asn(config.asn)],
    holdTime: 9,
    passive: !isMaster,
  });
  await speaker.listen({ address: place, port: 179 });
  return speaker;
}
