import { ConfigError, loadConfig } from '@bgp-lb/daemon';
import { asn, parseRouterId } from '@bgp-lb/protocol';
import { BgpSpeaker } from '@bgp-lb/protocol/node';
import { ManualClock, MemoryNetwork } from '@bgp-lb/protocol/testing';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { Advertiser } from '../bgp/advertiser.ts';
import { hostFacts } from '../host-facts.ts';
import { speakerSchema } from './schema.ts';
import { API_VERSION, KIND, type SpeakerConfig } from './speaker-config.ts';

const NODE = '10.0.0.11';
const ROUTERS = ['10.0.0.10', '10.0.0.9'];
const VIPS = ['10.9.0.100', '10.9.0.101'];
/** No host answers there. */
const odd = ['0.0.0.0', '127.0.0.1', '224.0.0.1', '255.255.255.255', '240.0.0.1', '::1', 'ff02::1'];

/** Most often one of those that work, so that whole configurations do. */
const mostly = <T>(good: readonly T[], bad: readonly T[]) =>
  fc.oneof({ weight: 15, arbitrary: fc.constantFrom(...good) }, fc.constantFrom(...bad));
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });

const drawn = fc.record({
  role: fc.constantFrom('init', 'join', 'cluster-api'),
  asn: mostly([64513, 65000, 4_200_000_000], [0, 23456, 65535, 4294967295]),
  routerId: optional(mostly([NODE, '192.0.2.9'], [...odd, ...VIPS])),
  vips: fc.array(
    fc.record({
      address: mostly(VIPS, [...odd, ...ROUTERS, NODE]),
      machinePort: mostly([6443], [179, 9475]),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  routers: fc.array(
    fc.record({
      address: mostly(ROUTERS, [...odd, NODE, ...VIPS]),
      asn: mostly([64513, 65001], [0, 65535]),
      sourceAddress: optional(mostly([NODE], [...odd, ...ROUTERS, ...VIPS])),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  apiServer: fc.record({
    address: mostly([NODE], odd),
    path: mostly(['/readyz', '/readyz?verbose'], ['/livez', 'readyz']),
    timeout: mostly(['1s', '2s'], ['30s']),
  }),
});

/** The configuration when `check-config` calls it good. */
function good(values: object): SpeakerConfig | undefined {
  const text = JSON.stringify({ apiVersion: API_VERSION, kind: KIND, ...values });
  try {
    return loadConfig({ schema: speakerSchema, file: 'drawn', text, apiVersion: API_VERSION, kind: KIND })
      .config;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

it('each configuration that is called good starts, and advertises its VIPs to each of its routers', async () => {
  let started = 0;
  await fc.assert(
    fc.asyncProperty(drawn, async (values) => {
      const config = good(values);
      if (config === undefined) return;
      started += 1;
      const clock = new ManualClock();
      const network = new MemoryNetwork();
      const received: string[] = [];
      const routers = await Promise.all(
        config.routers.map(async (router) => {
          const speaker = new BgpSpeaker({
            asn: asn(router.asn),
            routerId: parseRouterId(router.address),
            sockets: network.host(router.address),
            clock,
            handlers: { endOfRib: () => received.push(router.address) },
          });
          const remoteAsn = [asn(config.asn)];
          speaker.addPeer({ name: 'master', address: NODE, remoteAsn, holdTime: 9, passive: true });
          // Linux would connect to none of these.
          if (odd.includes(router.address)) network.dead.add(router.address);
          await speaker.listen({ address: router.address, port: router.port });
          return speaker;
        }),
      );
      const routeTo = (to: string) => ({ type: to === NODE ? 'local' : 'unicast', preferredSource: NODE });
      const { nodeAddress, routerId } = await hostFacts(config, { routeTo } as never, 1);
      expect(nodeAddress).toBe(NODE);
      const advertiser = new Advertiser({
        config,
        routerId,
        passwords: new Map(),
        isRestarting: false,
        sourceTowards: () => NODE,
        linkLocalTowards: () => undefined,
        globalOnLinkOf: () => undefined,
        sockets: network.host(NODE),
        clock,
        handlers: {},
      });
      try {
        advertiser.advertise(new Map(config.vips.map(({ address }) => [address, 'normal'])), [
          '0'.repeat(64),
        ]);
        await clock.advance(10_000);
        expect(received.sort()).toEqual(config.routers.map(({ address }) => address).sort());
        const prefixes = routers.map((one) => one.peers().map(({ adjRibIn }) => adjRibIn?.size ?? 0));
        expect(prefixes).toEqual(config.routers.map(() => [config.vips.length]));
        for (const { address } of config.vips)
          expect([...odd, NODE, ...config.routers.map((one) => one.address)]).not.toContain(address);
      } finally {
        await advertiser.closeForSuccessor();
        await Promise.all(routers.map((one) => one.close()));
      }
    }),
    { numRuns: 300 },
  );
  expect(started, 'configurations that were called good').toBeGreaterThan(20);
});
