import { describe, expect, it } from 'vitest';
import {
  type Asn,
  asn,
  ipv4Unicast,
  ipv6Unicast,
  type PathAttributes,
  parseIpAddress,
  parsePrefix,
} from '../index.ts';
import { PeerPair, type PeerPairOptions, type Side } from './kit/peer-pair.ts';
import { prefixesOf, routes } from './kit/routes.ts';
import type { PeerSettings } from './peer-settings.ts';

const none: Partial<PeerSettings> = {
  multiprotocol: false,
  routeRefresh: false,
  fourOctetAs: false,
  extendedMessage: false,
  enhancedRouteRefresh: false,
};

function capabilitiesSentBy({ peer }: Side): readonly string[] | undefined {
  return peer.negotiated?.localOpen.capabilities.map(({ name }) => name);
}

describe('the switches of capabilities', () => {
  it.each([
    ['multiprotocol', 'multiprotocol'],
    ['routeRefresh', 'route-refresh'],
    ['fourOctetAs', 'four-octet-as'],
    ['extendedMessage', 'extended-message'],
    ['enhancedRouteRefresh', 'enhanced-route-refresh'],
  ] as const)('%s leaves out %s, and nothing else', async (name, capability) => {
    const [all] = await new PeerPair().up();
    const [left] = await new PeerPair({ left: { [name]: false } }).up();
    expect(capabilitiesSentBy(all)).toContain(capability);
    expect(capabilitiesSentBy(left)).toEqual(capabilitiesSentBy(all)?.filter((each) => each !== capability));
  });

  it('all off make an OPEN without optional parameters, as RFC 4271 has it, and IPv4 unicast works', async () => {
    const pair = new PeerPair({ left: none });
    const [left, right] = await pair.up();
    expect(capabilitiesSentBy(left)).toEqual([]);
    expect(right.peer.negotiated?.remoteOpen.capabilities).toEqual([]);
    left.peer.setRoutes(ipv4Unicast, routes('10.9.0.0/24'));
    await pair.clock.advance(1);
    expect(prefixesOf(right.peer.paths())).toEqual(['10.9.0.0/24']);
  });

  it('take families for granted only where none is named, and then IPv4 unicast (RFC 4760 section 8)', async () => {
    const both = { families: [ipv4Unicast, ipv6Unicast] };
    const [left] = await new PeerPair({ left: both, right: { multiprotocol: false } }).up();
    expect(left.peer.negotiated?.context.families).toEqual([ipv4Unicast]);
    const [other] = await new PeerPair({ left: both, right: { families: [ipv6Unicast] } }).up();
    expect(other.peer.negotiated?.context.families).toEqual([ipv6Unicast]);
    // Not even an End-of-RIB of a family that was not agreed on: there are peers that reset on it.
    expect(other.peer.status().messages.sent.UPDATE).toBe(1);
    expect(other.heard.endOfRib).toEqual([ipv6Unicast]);
  });

  it('cannot be off for what needs them', () => {
    const settings = { families: [ipv4Unicast, ipv6Unicast], multiprotocol: false };
    return expect(new PeerPair({ left: settings }).up()).rejects.toThrow(
      'multiprotocol false with ipv4-unicast, ipv6-unicast: expected true, or ipv4-unicast alone',
    );
  });

  it('asks a peer without route refresh for nothing, and still works with it', async () => {
    const pair = new PeerPair({ right: { routeRefresh: false } });
    const [left, right] = await pair.up();
    left.peer.requestRefresh(ipv4Unicast);
    await pair.clock.advance(1);
    expect(right.peer.status().messages.received['ROUTE-REFRESH']).toBe(0);
    expect([left.peer.state, right.peer.state]).toEqual(['Established', 'Established']);
  });
});

describe('a speaker whose AS takes four octets, against a peer that knows two (RFC 6793 section 4.2)', () => {
  const ours = asn(4_200_000_000);
  const pathOf = ({ peer }: Side): PathAttributes | undefined => peer.paths()[0]?.attributes;

  async function pairUp(options: PeerPairOptions): Promise<{ pair: PeerPair; left: Side; right: Side }> {
    const pair = new PeerPair({ asns: [ours, 65002], ...options });
    const [left, right] = await pair.up();
    return { pair, left, right };
  }

  it('is AS_TRANS in My AS, and the session has two octets', async () => {
    const { left, right } = await pairUp({ right: { fourOctetAs: false } });
    expect(right.peer.negotiated).toMatchObject({
      remoteOpen: { myAs: 23456 },
      context: { asn4: false, peerAsn: ours },
    });
    expect(left.peer.negotiated?.context).toMatchObject({ asn4: false, peerAsn: 65002 });
  });

  it.each([
    ['that has the switch off', { right: { fourOctetAs: false } }],
    ['to which we have the switch off', { left: { fourOctetAs: false }, right: { remoteAsn: [asn(23456)] } }],
  ] as const)('brings paths unharmed to a peer %s, and back', async (_, options) => {
    const { pair, left, right } = await pairUp(options);
    const route = (address: string, asns: readonly Asn[]): Parameters<typeof left.peer.setRoutes>[1] => {
      const [template] = routes('10.9.0.0/24');
      if (template === undefined) throw new Error('no route');
      const attributes = {
        ...template.attributes,
        nextHop: parseIpAddress(address),
        asPath: [{ type: 2 as const, asns }],
        aggregator: { asn: asn(70_000), address: parseIpAddress(address) },
      };
      return [{ prefix: parsePrefix('10.9.0.0/24'), attributes }];
    };
    left.peer.setRoutes(ipv4Unicast, route('10.0.0.1', [ours, asn(70_000), asn(100)]));
    right.peer.setRoutes(ipv4Unicast, route('10.0.0.2', [asn(65002), asn(80_000)]));
    await pair.clock.advance(1);
    expect(pathOf(right)).toMatchObject({
      asPath: [{ type: 2, asns: [ours, 70_000, 100] }],
      aggregator: { asn: 70_000 },
      unknown: [],
    });
    expect(pathOf(left)?.asPath).toEqual([{ type: 2, asns: [65002, 80_000] }]);
    expect(
      [...left.heard.events, ...right.heard.events].filter(({ type }) => type === 'attribute-fault'),
    ).toEqual([]);
  });
});
