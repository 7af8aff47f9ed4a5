import {
  asn,
  ipv4Unicast,
  Origin,
  parseIpAddress,
  parsePrefix,
  parseRouterId,
  pathAttributes,
  SegmentType,
} from '@bgp-lb/protocol';
import { BgpSpeaker } from '@bgp-lb/protocol/node';
import { ManualClock, MemoryNetwork } from '@bgp-lb/protocol/testing';
import { expect, it } from 'vitest';
import { Advertiser } from './advertiser.ts';

const [ROUTER, NODE, OTHER, VIP, AS, ROUTER_AS] = [
  '10.0.0.10',
  '10.0.0.11',
  '10.0.0.12',
  '10.9.0.100',
  64512,
  65001,
];

it.each([
  ['unless it is told so', {}, []],
  ['unless it is told so', { acceptAsSet: false }, []],
  ['with acceptAsSet', { acceptAsSet: true }, [OTHER]],
])(
  'another master is known by a path with an AS_SET only %s (RFC 9774 section 3)',
  async (_, over, known) => {
    const clock = new ManualClock();
    const network = new MemoryNetwork();
    const router = new BgpSpeaker({
      asn: asn(ROUTER_AS),
      routerId: parseRouterId(ROUTER),
      sockets: network.host(ROUTER),
      clock,
      handlers: {},
    });
    const master = router.addPeer({
      name: 'master',
      address: NODE,
      remoteAsn: [asn(AS)],
      holdTime: 9,
      passive: true,
    });
    await router.listen({ address: ROUTER, port: 179 });
    const attributes = pathAttributes({
      origin: Origin.Igp,
      asPath: [
        { type: SegmentType.AsSequence, asns: [asn(ROUTER_AS)] },
        { type: SegmentType.AsSet, asns: [asn(65010), asn(65011)] },
      ],
      nextHop: parseIpAddress(OTHER),
    });
    const settings = { address: ROUTER, port: 179, asn: ROUTER_AS, holdTime: 9_000, ttlSecurityHops: 0 };
    const advertiser = new Advertiser({
      config: {
        asn: AS,
        vipBind: true,
        vips: [{ address: VIP, port: 6443, machinePort: 6443 }],
        routers: [{ ...settings, acceptAsSet: false, withoutCapabilities: [], bfd: false, ...over }],
      },
      routerId: NODE,
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
      await clock.advance(1_000);
      expect(master.state).toBe('Established');
      master.setRoutes(ipv4Unicast, [{ prefix: parsePrefix(`${VIP}/32`), attributes }]);
      await clock.advance(1_000);
      expect(advertiser.otherMasters().map(({ address }) => address)).toEqual(known);
      expect(master.state).toBe('Established');
    } finally {
      await Promise.all([advertiser.closeForSuccessor(), router.close()]);
    }
  },
);
