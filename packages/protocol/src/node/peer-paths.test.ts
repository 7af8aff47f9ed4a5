import { describe, expect, it } from 'vitest';
import { localAsn, negotiatedRestart, negotiatedWith } from '../fsm/kit/samples.ts';
import {
  AttributeTable,
  type DecodedUpdate,
  endOfRib,
  type Family,
  ipv4Unicast,
  ipv6Unicast,
  type Negotiated,
  parseRouterId,
  type ReceivedUpdate,
  receivedUpdate,
} from '../index.ts';
import { ManualClock } from './kit/manual-clock.ts';
import { prefixesOf, routes } from './kit/routes.ts';
import type { PeerEvent } from './peer-event.ts';
import { PeerPaths } from './peer-paths.ts';
import { resolveSettings } from './peer-settings.ts';

const empty = (family: Family): DecodedUpdate => ({
  ...endOfRib(family),
  faults: [],
  treatAsWithdraw: false,
});
const ends = (family: Family): ReceivedUpdate => receivedUpdate(empty(family));

/** The paths of a peer whose session has just come up and that has announced these prefixes. */
function announced(negotiated: Negotiated, ...prefixes: readonly string[]) {
  const clock = new ManualClock();
  const events: PeerEvent[] = [];
  const endsOfRib: Family[] = [];
  const paths = new PeerPaths({
    name: 'peer',
    address: '10.0.0.2',
    settings: resolveSettings('peer', { remoteAsn: 'external', staleTime: 100 }),
    context: {
      ...{ asn: localAsn, routerId: parseRouterId('10.0.0.1'), clusterId: undefined },
      ...{ table: new AttributeTable(), clock, random: () => 0 },
    },
    isTold: true,
    changed: () => undefined,
    endOfRib: (family) => endsOfRib.push(family),
    event: (event) => events.push(event),
  });
  paths.established(negotiated, '10.0.0.9:179');
  const announce = (...texts: readonly string[]): void => {
    for (const { prefix, attributes } of routes(...texts)) {
      const asPath = [{ type: 2, asns: [negotiated.context.peerAsn] }] as const;
      const nlri = [{ prefix, pathId: undefined }];
      const update = { ...empty(ipv4Unicast), attributes: { ...attributes, asPath }, nlri };
      paths.update(receivedUpdate(update));
    }
  };
  announce(...prefixes);
  return { paths, clock, events, endsOfRib, announce, held: () => prefixesOf(paths.paths()) };
}

describe('a BoRR of a peer with graceful restart (RFC 7313 section 4)', () => {
  it('counts for nothing before its End-of-RIB, and is told', () => {
    const { paths, events, held } = announced(negotiatedRestart, '10.9.0.0/24');
    paths.beginRefresh(ipv4Unicast);
    paths.endRefresh(ipv4Unicast);
    expect(held()).toEqual(['10.9.0.0/24']);
    expect(events).toEqual([{ type: 'refresh-ignored', family: 'ipv4-unicast' }]);
  });

  it('counts after it', () => {
    const { paths, events, announce, held } = announced(negotiatedRestart, '10.9.0.0/24', '10.9.1.0/24');
    paths.update(ends(ipv4Unicast));
    paths.beginRefresh(ipv4Unicast);
    announce('10.9.1.0/24');
    paths.endRefresh(ipv4Unicast);
    expect(held()).toEqual(['10.9.1.0/24']);
    expect(events).toEqual([]);
  });

  it('is waited for again in the next session', () => {
    const { paths, held } = announced(negotiatedRestart, '10.9.0.0/24');
    paths.update(ends(ipv4Unicast));
    paths.down({ kind: 'tcp-closed' }).report();
    paths.established(negotiatedRestart, undefined);
    paths.beginRefresh(ipv4Unicast);
    paths.endRefresh(ipv4Unicast);
    expect(held()).toEqual(['10.9.0.0/24 stale']);
  });

  it('counts at once where the peer has not offered graceful restart', () => {
    const { paths, held } = announced(negotiatedWith(), '10.9.0.0/24');
    paths.beginRefresh(ipv4Unicast);
    paths.endRefresh(ipv4Unicast);
    expect(held()).toEqual([]);
  });
});

describe('a BoRR whose EoRR is lost', () => {
  it('removes nothing, then or later: after the stale time there was none', async () => {
    const { paths, clock, held } = announced(negotiatedWith(), '10.9.0.0/24', '10.9.1.0/24');
    paths.beginRefresh(ipv4Unicast);
    await clock.advance(100_000);
    paths.endRefresh(ipv4Unicast);
    expect(held()).toEqual(['10.9.0.0/24', '10.9.1.0/24']);
  });

  it('begins anew with the next BoRR', () => {
    const { paths, announce, held } = announced(negotiatedWith(), '10.9.0.0/24', '10.9.1.0/24');
    paths.beginRefresh(ipv4Unicast);
    announce('10.9.0.0/24');
    paths.beginRefresh(ipv4Unicast);
    announce('10.9.1.0/24');
    paths.endRefresh(ipv4Unicast);
    expect(held()).toEqual(['10.9.1.0/24']);
  });
});

it.each([
  ['10.0.0.1:179', []],
  ['[::ffff:10.0.0.1]:40000', []],
  ['[2001:db8::1]:179', ['10.9.0.0/24']],
  ['[fe80::1%eth0]:179', ['10.9.0.0/24']],
  [undefined, ['10.9.0.0/24']],
])(
  'a path whose next hop 10.0.0.1 is our end of the session, %s, is not used (RFC 4271 section 5.1.3)',
  (own, taken) => {
    const { paths, announce, held } = announced(negotiatedWith());
    paths.established(negotiatedWith(), own);
    announce('10.9.0.0/24');
    expect(held()).toEqual(taken);
    expect(paths.adjRibIn?.rejected.last.map(({ reason }) => reason)).toEqual(
      taken.length > 0 ? [] : ['own address 10.0.0.1 as next hop'],
    );
  },
);

it('an End-of-RIB of a family that was not negotiated says nothing', () => {
  const onlyIpv6 = negotiatedWith({ families: [ipv6Unicast] }, { families: [ipv6Unicast] });
  const { paths, endsOfRib } = announced(onlyIpv6);
  paths.update(ends(ipv4Unicast));
  paths.update(ends(ipv6Unicast));
  expect(endsOfRib).toEqual([ipv6Unicast]);
});
