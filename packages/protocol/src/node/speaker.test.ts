import { describe, expect, it } from 'vitest';
import { asn, ipv4Unicast } from '../index.ts';
import { PeerPair } from './kit/peer-pair.ts';
import { prefixesOf, routes } from './kit/routes.ts';

describe('two speakers', () => {
  it('establish one session and say End-of-RIB with nothing to announce', async () => {
    const [left, right] = await new PeerPair().up();
    expect([left.peer.state, right.peer.state]).toEqual(['Established', 'Established']);
    expect([left.heard.established, right.heard.established]).toEqual([1, 1]);
    expect(left.heard.endOfRib).toEqual([ipv4Unicast]);
    expect(right.heard.endOfRib).toEqual([ipv4Unicast]);
  });

  it('exchange routes that were set before the session, with End-of-RIB after them', async () => {
    const pair = new PeerPair();
    const left = await pair.start(0);
    left.peer.setRoutes(ipv4Unicast, routes('10.9.0.0/24', '10.9.1.0/24'));
    const right = await pair.start(1);
    await pair.clock.advance(2000);
    expect(prefixesOf(right.peer.paths())).toEqual(['10.9.0.0/24', '10.9.1.0/24']);
    expect(right.heard.endOfRib).toEqual([ipv4Unicast]);
  });

  it('send only the difference afterwards', async () => {
    const pair = new PeerPair();
    const [left, right] = await pair.up();
    left.peer.setRoutes(ipv4Unicast, routes('10.9.0.0/24', '10.9.1.0/24'));
    await pair.clock.advance(1);
    const before = right.peer.status().messages.received.UPDATE;
    left.peer.setRoutes(ipv4Unicast, routes('10.9.1.0/24'));
    await pair.clock.advance(1);
    left.peer.setRoutes(ipv4Unicast, routes('10.9.1.0/24'));
    await pair.clock.advance(1);
    expect(prefixesOf(right.peer.paths())).toEqual(['10.9.1.0/24']);
    expect(right.peer.status().messages.received.UPDATE).toBe(before + 1);
    expect(prefixesOf(right.heard.routes.at(-1)?.withdrawn ?? [])).toEqual(['10.9.0.0/24']);
  });

  it.each([
    [undefined, []],
    [false, ['10.9.0.0/24']],
  ])(
    'want the AS of an external peer first in its paths, unless it is a route server (RFC 7947): enforceFirstAs %s',
    async (enforceFirstAs, taken) => {
      const pair = new PeerPair({ right: enforceFirstAs === undefined ? {} : { enforceFirstAs } });
      const [left, right] = await pair.up();
      const asPath = [{ type: 2, asns: [asn(65009)] }] as const;
      const foreign = routes('10.9.0.0/24').map(({ prefix, attributes }) => ({
        prefix,
        attributes: { ...attributes, asPath },
      }));
      left.peer.setRoutes(ipv4Unicast, foreign);
      await pair.clock.advance(1);
      expect(right.peer.state).toBe('Established');
      expect(prefixesOf(right.peer.paths())).toEqual(taken);
    },
  );

  it('tell each other why a session ends, with the text of the operator (RFC 9003)', async () => {
    const pair = new PeerPair();
    const [left, right] = await pair.up();
    left.peer.stop({ text: 'rack 7 moves' });
    await pair.clock.advance(1);
    expect(right.heard.down).toEqual([
      {
        kind: 'notification-received',
        code: 6,
        subcode: 2,
        text: 'NOTIFICATION received: Cease/Administrative Shutdown: rack 7 moves',
        pathsKept: false,
      },
    ]);
    expect(left.heard.down).toMatchObject([{ kind: 'stopped', code: 6, subcode: 2 }]);
    expect(left.peer.status().lastNotificationSent?.text).toBe('Cease/Administrative Shutdown: rack 7 moves');
    expect(right.peer.status().lastNotificationReceived?.text).toBe(
      'Cease/Administrative Shutdown: rack 7 moves',
    );
  });

  it('escape what does not belong into a log', async () => {
    const pair = new PeerPair();
    const [left, right] = await pair.up();
    left.peer.stop({ text: 'a\nb\u202e' });
    await pair.clock.advance(1);
    expect(right.heard.down[0]?.text).toContain('a\\u{a}b\\u{202e}');
  });

  it('reset a session, which comes back', async () => {
    const pair = new PeerPair();
    const [left, right] = await pair.up();
    left.peer.reset('new policy');
    await pair.clock.advance(5000);
    expect(right.heard.down).toMatchObject([{ code: 6, subcode: 4 }]);
    expect([left.heard.established, right.heard.established]).toEqual([2, 2]);
  });

  it('withdraw the paths of a session that ended', async () => {
    const pair = new PeerPair();
    const [left, right] = await pair.up();
    left.peer.setRoutes(ipv4Unicast, routes('10.9.0.0/24'));
    await pair.clock.advance(1);
    left.peer.stop();
    await pair.clock.advance(1);
    expect(right.peer.paths()).toEqual([]);
    expect(prefixesOf(right.heard.routes.at(-1)?.withdrawn ?? [])).toEqual(['10.9.0.0/24']);
  });

  it('end a session at the prefix limit with 6/1, and keep nothing', async () => {
    const pair = new PeerPair({ right: { maxPaths: 1 } });
    const [left, right] = await pair.up();
    left.peer.setRoutes(ipv4Unicast, routes('10.9.0.0/24', '10.9.1.0/24'));
    await pair.clock.advance(1);
    expect(left.heard.down[0]).toMatchObject({ kind: 'notification-received', code: 6, subcode: 1 });
    expect(right.heard.down[0]).toMatchObject({ kind: 'notification-sent', code: 6, subcode: 1 });
    expect(right.peer.paths()).toEqual([]);
  });

  it.each([
    [600, 450_000, 600_000],
    [Number.POSITIVE_INFINITY, 86_400_000, undefined],
  ])(
    'leave a peer alone for %d s that announces too much, whatever policy makes of it',
    async (limitHold, quiet, end) => {
      const importPolicy = () => ({ accept: false, reason: 'nothing' }) as const;
      const pair = new PeerPair({ right: { maxReceived: 1, limitHold, importPolicy } });
      const [left, right] = await pair.up();
      left.peer.setRoutes(ipv4Unicast, routes('10.9.0.0/24', '10.9.1.0/24'));
      await pair.clock.advance(1);
      expect(right.heard.down[0]).toMatchObject({ kind: 'notification-sent', code: 6, subcode: 1 });
      expect(right.heard.events).toContainEqual({ type: 'idle-hold', seconds: limitHold });
      left.peer.setRoutes(ipv4Unicast, []);
      await pair.clock.advance(quiet - 1000);
      expect([right.peer.state, right.heard.established]).toEqual(['Idle', 1]);
      if (end === undefined) right.peer.reset('limit raised');
      await pair.clock.advance((end ?? quiet) - quiet + 200_000);
      expect([right.peer.state, right.heard.established]).toEqual(['Established', 2]);
    },
  );

  it('send everything again when asked by ROUTE-REFRESH (RFC 2918 section 4)', async () => {
    const pair = new PeerPair();
    const [left, right] = await pair.up();
    left.peer.setRoutes(ipv4Unicast, routes('10.9.0.0/24'));
    await pair.clock.advance(1);
    const before = right.peer.status().messages.received.UPDATE;
    right.peer.requestRefresh(ipv4Unicast);
    await pair.clock.advance(1);
    expect(right.peer.status().messages.received.UPDATE).toBe(before + 1);
    expect(prefixesOf(right.peer.paths())).toEqual(['10.9.0.0/24']);
  });

  it('refuse a wrong AS with 2/2, and wait longer each time', async () => {
    const pair = new PeerPair({ right: { remoteAsn: 'external' }, asns: [65001, 65001] });
    const left = await pair.start(0);
    await pair.start(1);
    await pair.clock.advance(60_000);
    expect(left.heard.established).toBe(0);
    expect(left.peer.status().lastNotificationReceived).toMatchObject({ code: 2, subcode: 2 });
    expect(pair.network.attempts.length).toBeLessThan(40);
    expect(left.heard.events).toContainEqual({ type: 'idle-hold', seconds: 16 });
  });

  it('have a status that is JSON', async () => {
    const [left] = await new PeerPair().up();
    const status = left.peer.status();
    expect(JSON.parse(JSON.stringify(status))).toEqual(status);
    expect(status).toMatchObject({
      state: 'Established',
      holdTime: 90,
      remoteAsn: 65002,
      families: ['ipv4-unicast'],
    });
  });

  it('keep a bounded number of transitions', async () => {
    const pair = new PeerPair();
    const [left] = await pair.up();
    for (let round = 0; round < 10; round += 1) {
      left.peer.reset();
      await pair.clock.advance(5000);
    }
    expect(left.peer.status().transitions).toHaveLength(16);
  });

  it('close everything on close, and say why', async () => {
    const pair = new PeerPair();
    const [left, right] = await pair.up();
    await left.speaker.close({ text: 'good night' });
    await pair.clock.advance(1);
    expect(right.heard.down).toMatchObject([{ kind: 'notification-received', code: 6, subcode: 2 }]);
    expect(right.heard.down[0]?.text).toContain('good night');
  });
});
