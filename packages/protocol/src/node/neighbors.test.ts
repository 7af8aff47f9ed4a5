import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asn, ipv4Unicast, parseIpAddress, parseRouterId } from '../index.ts';
import { ManualClock } from './kit/manual-clock.ts';
import { MemoryNetwork } from './kit/memory-sockets.ts';
import { internalRoutes } from './kit/routes.ts';
import type { PeerEvent } from './peer-event.ts';
import { BgpSpeaker } from './speaker.ts';

let clock: ManualClock;
let network: MemoryNetwork;
let router: BgpSpeaker;
let events: [string | undefined, PeerEvent][];
const speakers: BgpSpeaker[] = [];

beforeEach(async () => {
  clock = new ManualClock();
  network = new MemoryNetwork();
  events = [];
  router = new BgpSpeaker({
    asn: asn(64512),
    routerId: parseRouterId('10.0.0.10'),
    sockets: network.host('10.0.0.10'),
    clock,
    handlers: { event: (peer, event) => events.push([peer?.name, event]) },
  });
  speakers.push(router);
  await router.listen({ address: '10.0.0.10' });
});

afterEach(async () => {
  for (const speaker of speakers.splice(0)) {
    const closed = speaker.close();
    await clock.advance(3000);
    await closed;
  }
});

function master(address: string, localAsn = 64512): BgpSpeaker {
  const speaker = new BgpSpeaker({
    asn: asn(localAsn),
    routerId: parseRouterId(address),
    sockets: network.host(address),
    clock,
  });
  speakers.push(speaker);
  speaker.addPeer({ name: 'router', address: '10.0.0.10', remoteAsn: [asn(64512)], connectRetryTime: 5 });
  return speaker;
}

const range = {
  name: 'masters',
  range: '10.0.0.0/24',
  remoteAsn: [asn(64512)],
  maxSessions: 2,
  retainPaths: 'always',
  staleTime: 30,
} as const;

describe('a range of neighbors', () => {
  it('lets any address of it connect, and names the peer by the address', async () => {
    router.addRange(range);
    master('10.0.0.11');
    await clock.advance(100);
    expect(router.peers().map(({ name, state, range: of }) => [name, state, of])).toEqual([
      ['10.0.0.11', 'Established', 'masters'],
    ]);
    expect(router.peer('10.0.0.11')?.isInternal).toBe(true);
  });

  it('never connects by itself', async () => {
    router.addRange(range);
    const speaker = master('10.0.0.11');
    await clock.advance(100);
    await Promise.all([speaker.close(), clock.advance(60_000)]);
    expect(network.attempts.filter(({ from }) => from === '10.0.0.10')).toEqual([]);
  });

  it('takes no more than maxSessions at a time', async () => {
    router.addRange(range);
    for (const address of ['10.0.0.11', '10.0.0.12', '10.0.0.13']) master(address);
    await clock.advance(100);
    expect(
      router
        .peers()
        .map(({ name }) => name)
        .sort(),
    ).toHaveLength(2);
    expect(events).toContainEqual([
      undefined,
      expect.objectContaining({ type: 'connection-refused', reason: 'range masters has its 2 sessions' }),
    ]);
  });

  it('forgets a peer that has gone', async () => {
    router.addRange(range);
    const speaker = master('10.0.0.11');
    await clock.advance(100);
    const closed = speaker.close();
    await clock.advance(3000);
    await closed;
    expect(router.peers()).toEqual([]);
  });

  it('remembers a peer as long as it has stale paths', async () => {
    router.addRange(range);
    const speaker = master('10.0.0.11');
    speaker.peers()[0]?.setRoutes(ipv4Unicast, internalRoutes('10.9.0.0/24'));
    await clock.advance(100);
    const closed = speaker.close({ keepForwarding: true });
    await clock.advance(3000);
    await closed;
    expect(router.peers().map(({ name }) => name)).toEqual(['10.0.0.11']);
    await clock.advance(30_000);
    expect(router.peers()).toEqual([]);
  });

  it('damps a peer that comes and fails again and again, though it is forgotten in between', async () => {
    router.addRange(range);
    master('10.0.0.11', 65099);
    await clock.advance(120_000);
    const holds = events.flatMap(([, event]) => (event.type === 'idle-hold' ? [event.seconds] : []));
    expect(holds.length).toBeGreaterThan(2);
    expect(Math.max(...holds)).toBeGreaterThan(holds[0] ?? 0);
  });

  it('remembers failures of a bounded number of addresses', async () => {
    router.addRange({ ...range, range: '10.0.0.0/16', maxSessions: 2000 });
    master('10.0.0.11', 65099);
    const holds = (): number[] =>
      events.flatMap(([, event]) => (event.type === 'idle-hold' ? [event.seconds] : []));
    await clock.advance(120_000);
    const [first = 0] = holds();
    expect(Math.max(...holds())).toBeGreaterThan(first);
    for (let n = 0; n < 1100; n++) {
      const one = network.host(`10.0.${1 + (n >> 8)}.${n & 255}`).open('10.0.0.10', {});
      one.on('error', () => undefined);
      one.connect(179, '10.0.0.10');
      await clock.advance(0);
      one.destroy();
    }
    await clock.advance(10);
    events = [];
    await clock.advance(600_000);
    // It begins again: others have taken its place.
    expect(holds()[0]).toBe(first);
  });

  it('gives way to a configured peer at an address of it', async () => {
    router.addRange(range);
    router.addPeer({ name: 'm1', address: '10.0.0.11', remoteAsn: [asn(64512)], passive: true });
    master('10.0.0.11');
    await clock.advance(100);
    expect(router.peers().map(({ name, state }) => [name, state])).toEqual([['m1', 'Established']]);
  });
});

describe('a configured peer', () => {
  it('that is removed gets 6/3, and is known no more', async () => {
    const peer = router.addPeer({ name: 'm1', address: '10.0.0.11', remoteAsn: [asn(64512)], passive: true });
    const speaker = master('10.0.0.11');
    await clock.advance(100);
    const removed = router.removePeer(peer);
    await clock.advance(3000);
    await removed;
    expect(router.peers()).toEqual([]);
    expect(speaker.peers()[0]?.status().lastDown?.text).toBe(
      'NOTIFICATION received: Cease/Peer De-configured',
    );
  });

  it('takes over from the member of a range at its address', async () => {
    router.addRange(range);
    const speaker = master('10.0.0.11');
    await clock.advance(100);
    router.addPeer({ name: 'm1', address: '10.0.0.11', remoteAsn: [asn(64512)], passive: true });
    await clock.advance(10_000);
    expect(speaker.peers()[0]?.status().lastNotificationReceived).toMatchObject({ code: 6, subcode: 6 });
    expect(router.peers().map(({ name, state }) => [name, state])).toEqual([['m1', 'Established']]);
  });
});

describe('link-local addresses (RFC 4007 section 6)', () => {
  const settings = { remoteAsn: [asn(64512)], passive: true } as const;

  it('are the same neighbor only on the same link', async () => {
    router.addPeer({ ...settings, name: 'east', address: 'FE80:0::1%eth0' });
    router.addPeer({ ...settings, name: 'west', address: 'fe80::1%eth1' });
    const speaker = new BgpSpeaker({
      asn: asn(64512),
      routerId: parseRouterId('10.0.0.1'),
      sockets: network.host('fe80::1%eth1'),
      clock,
    });
    speakers.push(speaker);
    speaker.addPeer({ name: 'router', address: '10.0.0.10', remoteAsn: [asn(64512)], connectRetryTime: 5 });
    await clock.advance(100);
    expect(router.peers().map(({ name, state }) => [name, state])).toEqual([
      ['east', 'Active'],
      ['west', 'Established'],
    ]);
    expect(router.peer('west')?.adjRibIn?.source).toMatchObject({
      address: parseIpAddress('fe80::1'),
      zone: 'eth1',
    });
  });

  it('are nobody on a link where they are not configured', async () => {
    router.addPeer({ ...settings, name: 'east', address: 'fe80::1%eth0' });
    const stranger = network.host('fe80::1%eth1').open('10.0.0.10', {});
    stranger.connect(179, '10.0.0.10');
    await clock.advance(2000);
    expect(router.rejectedConnections).toBe(1);
    expect(events).toContainEqual([
      undefined,
      expect.objectContaining({ type: 'connection-refused', address: 'fe80::1%eth1' }),
    ]);
  });
});

describe('a connection of nobody that is known', () => {
  it('is closed without an OPEN, counted, and told so by 6/5', async () => {
    const stranger = network.host('10.0.9.9').open('10.0.0.10', {});
    const received: number[] = [];
    stranger.on('data', (chunk: Uint8Array) => received.push(...chunk));
    stranger.connect(179, '10.0.0.10');
    await clock.advance(2000);
    expect(received.slice(18)).toEqual([3, 6, 5]);
    expect(stranger.destroyed).toBe(true);
    expect(router.rejectedConnections).toBe(1);
    expect(router.peers()).toEqual([]);
  });

  it('is closed at once when there are many', async () => {
    // They read nothing, so that none of them closes.
    const strangers = Array.from({ length: 20 }, () => network.host('10.0.9.9').open('10.0.0.10', {}));
    for (const stranger of strangers) stranger.connect(179, '10.0.0.10');
    await clock.advance(100);
    const told = strangers.filter(({ readableLength }) => readableLength > 0);
    expect(told).toHaveLength(8);
    await clock.advance(2000);
    expect(network.connections.every(({ accepted }) => accepted.destroyed)).toBe(true);
    expect(router.rejectedConnections).toBe(20);
  });
});

describe('settings', () => {
  it.each([
    [{ holdTime: 2 }, 'peer m1: holdTime 2: expected 0, or 3 to 65535 seconds'],
    [{ connectRetryTime: 0 }, 'peer m1: connectRetryTime 0: expected at least 1 second'],
    [{ families: [] }, 'peer m1: families none: expected at least one address family'],
    [{ remoteAsn: [] }, 'peer m1: remoteAsn none: expected at least one AS number'],
    [
      { gracefulRestart: { restartTime: 4096, families: [] } },
      'peer m1: gracefulRestart.restartTime 4096: expected 0 to 4095 seconds',
    ],
  ])('that cannot be are refused: %o', (settings, message) => {
    expect(() =>
      router.addPeer({ name: 'm1', address: '10.0.0.11', remoteAsn: 'external', ...settings }),
    ).toThrow(new RangeError(message));
  });

  it('of a second peer at one address are refused', () => {
    router.addPeer({ name: 'm1', address: '10.0.0.11', remoteAsn: 'external' });
    expect(() => router.addPeer({ name: 'm2', address: '::ffff:10.0.0.11', remoteAsn: 'external' })).toThrow(
      'peer m2: 10.0.0.11 is already known as peer m1',
    );
  });
});
