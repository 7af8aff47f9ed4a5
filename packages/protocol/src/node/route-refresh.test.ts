import { describe, expect, it } from 'vitest';
import {
  asn,
  encodeMessage,
  formatPrefix,
  type ImportPolicy,
  ipv4Unicast,
  ipv6Unicast,
  openContext,
} from '../index.ts';
import type { Side } from './kit/peer-pair.ts';
import { PeerPair, type PeerPairOptions } from './kit/peer-pair.ts';
import { manyRoutes, prefixesOf, routes } from './kit/routes.ts';

const two = ['10.9.0.0/24', '10.9.1.0/24'];

/** The left side announces two routes. */
async function announced(
  options: PeerPairOptions = {},
): Promise<{ pair: PeerPair; left: Side; right: Side }> {
  const pair = new PeerPair(options);
  const [left, right] = await pair.up();
  left.peer.setRoutes(ipv4Unicast, routes(...two));
  await pair.clock.advance(1);
  expect(right.peer.paths()).toHaveLength(2);
  return { pair, left, right };
}

const refreshes = ({ peer }: Side): number => peer.status().messages.received['ROUTE-REFRESH'];
const updates = ({ peer }: Side): number => peer.status().messages.received.UPDATE;

/** The wire as it would be if the left side had forgotten a route without a word: what only a refresh can mend. */
async function diverge({ pair, left, right }: Awaited<ReturnType<typeof announced>>): Promise<void> {
  // A route of its own making at the receiver: as if the withdrawal had been lost.
  const [extra] = routes('10.9.9.0/24');
  right.peer.adjRibIn?.apply(
    {
      type: 'UPDATE',
      withdrawn: [],
      attributes: extra?.attributes,
      nlri: extra === undefined ? [] : [{ prefix: extra.prefix, pathId: undefined }],
      mpReach: undefined,
      mpUnreach: undefined,
      faults: [],
      treatAsWithdraw: false,
    },
    0,
  );
  expect(right.peer.paths()).toHaveLength(3);
  expect(left.peer.state).toBe('Established');
  await pair.clock.advance(1);
}

describe('a route refresh', () => {
  it('comes between BoRR and EoRR, and what is not in it is gone (RFC 7313 section 4)', async () => {
    const all = await announced();
    await diverge(all);
    const before = updates(all.right);
    all.right.peer.requestRefresh(ipv4Unicast);
    await all.pair.clock.advance(1);
    expect(refreshes(all.right)).toBe(2);
    expect(updates(all.right) - before).toBe(1);
    expect(prefixesOf(all.right.peer.paths())).toEqual(two);
    expect(all.right.heard.routes.at(-1)?.withdrawn).toHaveLength(1);
  });

  it('of a peer without the capability removes nothing', async () => {
    const all = await announced({ left: { enhancedRouteRefresh: false } });
    await diverge(all);
    all.right.peer.requestRefresh(ipv4Unicast);
    await all.pair.clock.advance(1);
    expect(refreshes(all.right)).toBe(0);
    expect(all.right.peer.paths()).toHaveLength(3);
  });

  it('is what any ROUTE-REFRESH is without the capability: the third octet is reserved then (RFC 2918 section 3)', async () => {
    const { pair, left, right } = await announced({ left: { enhancedRouteRefresh: false } });
    const before = updates(right);
    const mark = { type: 'ROUTE-REFRESH', afi: 1, safi: 1, subtype: 1 } as const;
    const { from, dialler, accepted } =
      pair.network.connections.find((each) => !each.dialler.destroyed) ?? {};
    const own = from === '10.0.0.2' ? dialler : accepted;
    own?.write(encodeMessage(mark, openContext(asn(65002))));
    await pair.clock.advance(1);
    expect([refreshes(left), updates(right) - before]).toEqual([1, 1]);
  });

  it('of another family, or of another kind, changes nothing', async () => {
    const { pair, left, right } = await announced();
    const before = updates(right);
    right.peer.requestRefresh(ipv6Unicast);
    await pair.clock.advance(1);
    expect([refreshes(left), updates(right) - before]).toEqual([0, 0]);
  });

  it('follows the first End-of-RIB, also when it is asked for before (RFC 7313 section 4)', async () => {
    const restarting = { restartTime: 60, families: [ipv4Unicast], restarting: true };
    const pair = new PeerPair({ left: { gracefulRestart: restarting } });
    const [left, right] = await pair.up();
    right.peer.requestRefresh(ipv4Unicast);
    await pair.clock.advance(1);
    expect({ marks: refreshes(right), ends: right.heard.endOfRib.length }).toEqual({ marks: 0, ends: 0 });
    left.peer.setRoutes(ipv4Unicast, routes(...two));
    await pair.clock.advance(1);
    expect({ marks: refreshes(right), ends: right.heard.endOfRib.length }).toEqual({ marks: 2, ends: 1 });
    expect(prefixesOf(right.peer.paths())).toEqual(two);
  });

  it('loses no route of a long table, and nothing is stale meanwhile', async () => {
    const pair = new PeerPair();
    const [left, right] = await pair.up();
    left.peer.setRoutes(ipv4Unicast, manyRoutes(500));
    await pair.clock.advance(1);
    right.peer.requestRefresh(ipv4Unicast);
    await pair.clock.advance(1);
    expect(right.peer.paths()).toHaveLength(500);
    expect(right.peer.status().prefixes.stale).toBe(0);
    expect(right.heard.routes.flatMap(({ withdrawn }) => withdrawn)).toEqual([]);
  });

  it('tells its end, which shows that all that was sent before has been read, also when there is nothing to announce', async () => {
    const pair = new PeerPair();
    const [left, right] = await pair.up();
    right.peer.setRoutes(ipv4Unicast, routes(...two));
    await pair.clock.advance(1);
    right.peer.setRoutes(ipv4Unicast, []);
    right.peer.requestRefresh(ipv4Unicast);
    await pair.clock.advance(1);
    expect(right.heard.refreshed).toEqual([ipv4Unicast]);
    expect(left.peer.paths()).toEqual([]);
  });

  it('brings what an import policy refused before and takes now; what it takes no more goes without one', async () => {
    let taken = ['10.1.0.0/24'];
    const importPolicy: ImportPolicy = (prefix, attributes) =>
      taken.includes(formatPrefix(prefix))
        ? { accept: true, attributes }
        : { accept: false, reason: 'not wanted' };
    const pair = new PeerPair({ right: { importPolicy } });
    const [left, right] = await pair.up();
    left.peer.setRoutes(ipv4Unicast, routes('10.1.0.0/24', '10.2.0.0/24'));
    await pair.clock.advance(1);
    expect(prefixesOf(right.peer.paths())).toEqual(['10.1.0.0/24']);
    taken = ['10.2.0.0/24'];
    const before = updates(right);
    right.peer.reapplyImportPolicy();
    expect(prefixesOf(right.peer.paths())).toEqual([]);
    expect(right.heard.routes.at(-1)?.rejected).toMatchObject([{ reason: 'not wanted' }]);
    expect(updates(right)).toBe(before);
    right.peer.requestRefresh(ipv4Unicast);
    await pair.clock.advance(1);
    expect(prefixesOf(right.peer.paths())).toEqual(['10.2.0.0/24']);
  });
});
