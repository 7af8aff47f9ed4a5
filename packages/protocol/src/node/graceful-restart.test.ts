import { describe, expect, it } from 'vitest';
import { ipv4Unicast } from '../index.ts';
import type { PeerPairOptions, Side } from './kit/peer-pair.ts';
import { PeerPair } from './kit/peer-pair.ts';
import { prefixesOf, routes } from './kit/routes.ts';

const helper = { gracefulRestart: { restartTime: 60, families: [] } };
const restarting = { gracefulRestart: { restartTime: 60, families: [ipv4Unicast], restarting: true } };

/** The right side helps; the left side announces two routes and its process is killed. */
async function killed(options: PeerPairOptions): Promise<{ pair: PeerPair; right: Side }> {
  const pair = new PeerPair(options);
  const [left, right] = await pair.up();
  left.peer.setRoutes(ipv4Unicast, routes('10.9.0.0/24', '10.9.1.0/24'));
  await pair.clock.advance(1);
  expect(right.peer.paths()).toHaveLength(2);
  // A dead process neither listens nor connects.
  await Promise.all([pair.kill(0), left.speaker.close({ keepForwarding: true })]);
  return { pair, right };
}

const bothStale = ['10.9.0.0/24 stale', '10.9.1.0/24 stale'];

describe('a peer whose process dies', () => {
  it('keeps its paths, as stale ones, when graceful restart was negotiated (RFC 4724 section 4.2)', async () => {
    const { right } = await killed({ left: restarting, right: helper });
    expect(prefixesOf(right.peer.paths())).toEqual(bothStale);
    expect(right.heard.down).toMatchObject([{ kind: 'tcp-reset', pathsKept: true }]);
    expect(right.heard.routes.flatMap(({ withdrawn }) => withdrawn)).toEqual([]);
    expect(right.peer.status().prefixes.stale).toBe(2);
  });

  it('loses its paths without graceful restart', async () => {
    const { right } = await killed({});
    expect(right.peer.paths()).toEqual([]);
    expect(right.heard.down).toMatchObject([{ kind: 'tcp-reset', pathsKept: false }]);
  });

  it('keeps its paths when the operator says always', async () => {
    const { right } = await killed({ right: { retainPaths: 'always' } });
    expect(prefixesOf(right.peer.paths())).toEqual(bothStale);
  });

  it('loses them when it does not come back in its restart time', async () => {
    const { pair, right } = await killed({ left: restarting, right: helper });
    await pair.clock.advance(59_000);
    expect(right.peer.paths()).toHaveLength(2);
    await pair.clock.advance(1100);
    expect(right.peer.paths()).toEqual([]);
    expect(prefixesOf(right.heard.routes.at(-1)?.withdrawn ?? [])).toEqual(bothStale);
  });

  it('loses them after staleTime when that is shorter', async () => {
    const { pair, right } = await killed({ right: { retainPaths: 'always', staleTime: 10 } });
    await pair.clock.advance(10_100);
    expect(right.peer.paths()).toEqual([]);
  });

  it('loses them at once when the application says so', async () => {
    const { right } = await killed({ right: { retainPaths: 'always' } });
    right.peer.dropStale();
    expect(right.peer.paths()).toEqual([]);
    expect(prefixesOf(right.heard.routes.at(-1)?.withdrawn ?? [])).toEqual(bothStale);
  });

  it('loses them when the operator stops the session', async () => {
    const { right } = await killed({ right: { retainPaths: 'always' } });
    right.peer.stop();
    expect(right.peer.paths()).toEqual([]);
  });

  it('loses its paths when BFD says that it is dead, which the other side is told (RFC 9384)', async () => {
    const pair = new PeerPair({ left: helper, right: { ...helper, retainPaths: 'always' } });
    const [left, right] = await pair.up();
    left.peer.setRoutes(ipv4Unicast, routes('10.9.0.0/24'));
    await pair.clock.advance(1);
    right.peer.bfdDown();
    expect(right.peer.paths()).toEqual([]);
    await pair.clock.advance(1);
    expect(left.heard.down).toMatchObject([{ code: 6, subcode: 10, pathsKept: false }]);
    await pair.clock.advance(10_000);
    expect(right.peer.state).toBe('Established');
  });

  it('replaces what it announces again, and loses the rest at its End-of-RIB', async () => {
    const { pair, right } = await killed({ left: restarting, right: helper });
    const left = await pair.start(0);
    await pair.clock.advance(5000);
    expect(right.peer.state).toBe('Established');
    expect(prefixesOf(right.peer.paths())).toEqual(bothStale);
    left.peer.setRoutes(ipv4Unicast, routes('10.9.1.0/24'));
    await pair.clock.advance(1);
    expect(prefixesOf(right.peer.paths())).toEqual(['10.9.1.0/24']);
    expect(right.heard.endOfRib).toEqual([ipv4Unicast, ipv4Unicast]);
  });

  it('sends the End-of-RIB after its restart time even when it has nothing to announce', async () => {
    const { pair, right } = await killed({ left: restarting, right: { ...helper, staleTime: 4000 } });
    await pair.start(0);
    await pair.clock.advance(50_000);
    expect(right.peer.paths()).toHaveLength(2);
    await pair.clock.advance(15_000);
    expect(right.peer.paths()).toEqual([]);
  });

  it('loses them at once when it comes back without its forwarding state', async () => {
    const options: { left: object; right: object } = { left: restarting, right: helper };
    const { pair, right } = await killed(options);
    options.left = { gracefulRestart: { restartTime: 60, families: [] } };
    await pair.start(0);
    await pair.clock.advance(5000);
    expect(right.peer.state).toBe('Established');
    expect(right.peer.paths()).toEqual([]);
    expect(right.heard.events).toContainEqual({
      type: 'stale-paths-removed',
      count: 2,
      reason: 'the family is missing in the graceful restart capability',
    });
  });

  it('loses them at once when another router has its address', async () => {
    const options: { left: object; right: object; routerIds: [string, string] } = {
      left: restarting,
      right: helper,
      routerIds: ['10.0.0.1', '10.0.0.2'],
    };
    const { pair, right } = await killed(options);
    options.routerIds = ['10.0.0.7', '10.0.0.2'];
    await pair.start(0);
    await pair.clock.advance(5000);
    expect(right.peer.state).toBe('Established');
    expect(right.peer.paths()).toEqual([]);
  });

  it('loses what was stale already when it dies once more', async () => {
    const { pair, right } = await killed({ left: restarting, right: helper });
    const left = await pair.start(0);
    await pair.clock.advance(5000);
    expect(prefixesOf(right.peer.paths())).toEqual(bothStale);
    await Promise.all([pair.kill(0), left.speaker.close({ keepForwarding: true })]);
    expect(right.peer.paths()).toEqual([]);
  });

  it('says that it kept its forwarding state where it did: in its first session after a restart, later always', async () => {
    const keptBy = ({ peer }: Side) =>
      peer.negotiated?.gracefulRestart?.families.map(({ forwardingPreserved }) => forwardingPreserved);
    const fresh = { gracefulRestart: { restartTime: 60, families: [ipv4Unicast] } };
    const kept = { gracefulRestart: { ...fresh.gracefulRestart, forwardingPreserved: true } };
    for (const [settings, first] of [
      [fresh, false],
      [kept, true],
      [restarting, true],
    ] as const) {
      const pair = new PeerPair({ left: settings, right: helper });
      const [left, right] = await pair.up();
      expect(keptBy(right)).toEqual([first]);
      left.peer.reset();
      await pair.clock.advance(5000);
      expect(keptBy(right)).toEqual([true]);
    }
  });

  it('sets the restart bit in its first session only', async () => {
    const pair = new PeerPair({ left: restarting, right: helper });
    const [left, right] = await pair.up();
    expect(right.peer.negotiated?.gracefulRestart?.restarting).toBe(true);
    left.peer.reset();
    await pair.clock.advance(5000);
    expect(right.peer.negotiated?.gracefulRestart?.restarting).toBe(false);
  });
});

describe('a session that ends otherwise', () => {
  const options = { left: restarting, right: { ...helper, retainPaths: 'always' } } as const;

  async function announced(): Promise<{ pair: PeerPair; left: Side; right: Side }> {
    const pair = new PeerPair({ ...options, right: { ...options.right, holdTime: 9 } });
    const [left, right] = await pair.up();
    left.peer.setRoutes(ipv4Unicast, routes('10.9.0.0/24'));
    await pair.clock.advance(1);
    return { pair, left, right };
  }

  it('by Cease loses its paths, whatever the operator keeps', async () => {
    const { pair, left, right } = await announced();
    left.peer.stop();
    await pair.clock.advance(1);
    expect(right.peer.paths()).toEqual([]);
    expect(right.heard.down).toMatchObject([{ pathsKept: false }]);
  });

  it('by the hold timer loses its paths: the host is dead', async () => {
    const { pair, right } = await announced();
    pair.network.dead.add('10.0.0.1');
    pair.network.connections.at(-1)?.dialler.cut();
    await pair.clock.advance(10_000);
    expect(right.heard.down).toMatchObject([{ kind: 'hold-timer-expired', pathsKept: false }]);
    expect(right.peer.paths()).toEqual([]);
  });

  it('by a TCP timeout loses its paths: the host is dead', async () => {
    const { pair, right } = await announced();
    const { dialler, accepted, from } = pair.network.connections.at(-1) ?? {};
    const own = from === '10.0.0.2' ? dialler : accepted;
    own?.cut();
    own?.destroy(Object.assign(new Error('read ETIMEDOUT'), { code: 'ETIMEDOUT' }));
    await pair.clock.advance(1);
    expect(right.heard.down).toMatchObject([{ kind: 'tcp-timeout', pathsKept: false }]);
    expect(right.peer.paths()).toEqual([]);
  });

  it('by a new connection of the peer counts as its restart (RFC 4724 section 5)', async () => {
    const { pair, right } = await announced();
    pair.network.connections.at(-1)?.dialler.cut();
    const successor = await pair.start(0);
    await pair.clock.advance(100);
    expect(right.heard.down).toMatchObject([{ kind: 'tcp-closed', pathsKept: true }]);
    expect(right.peer.status().lastNotificationSent).toBeNull();
    expect(right.peer.state).toBe('Established');
    expect(successor.peer.state).toBe('Established');
    expect(prefixesOf(right.peer.paths())).toEqual(['10.9.0.0/24 stale']);
  });

  it('is not there for a bare connection, nor for one that brings anything but an OPEN', async () => {
    const { pair, right } = await announced();
    const stranger = pair.network.host('10.0.0.1');
    for (const octets of [
      [],
      [0],
      Array<number>(19).fill(0xff),
      [...Array<number>(16).fill(0xff), 0, 19, 4],
    ]) {
      const socket = stranger.open('10.0.0.2', {});
      socket.on('error', () => undefined);
      socket.connect(179, '10.0.0.2');
      await pair.clock.advance(1);
      socket.write(Uint8Array.from(octets));
      await pair.clock.advance(1);
      socket.destroy();
      await pair.clock.advance(1);
    }
    expect(right.heard.down).toEqual([]);
    expect(right.peer.state).toBe('Established');
    expect(prefixesOf(right.peer.paths())).toEqual(['10.9.0.0/24']);
  });

  it('by a stop that keeps forwarding says nothing, and its paths stay', async () => {
    const { pair, left, right } = await announced();
    await left.speaker.close({ keepForwarding: true });
    await pair.clock.advance(1);
    expect(right.heard.down).toMatchObject([{ kind: 'tcp-closed', pathsKept: true }]);
    expect(prefixesOf(right.peer.paths())).toEqual(['10.9.0.0/24 stale']);
    expect(right.peer.status().lastNotificationReceived).toBeNull();
  });
});
