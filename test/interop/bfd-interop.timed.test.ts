import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NamespaceProcess } from '../kit/namespace-process.ts';
import { cable, NetworkNamespace } from '../kit/network-namespace.ts';
import { type BfdDaemon, type PeerSession, startBfdd, startBird } from './bfd-daemons.ts';
import type { BfdEnd } from './bfd-end.ts';

/** One cable for 50 ms and one for 300 ms, each with IPv4 and IPv6. The peer is `.2`. */
const sessions: readonly PeerSession[] = [
  { local: '10.9.0.2', remote: '10.9.0.1', device: 'fast', interval: 50 },
  { local: 'fd00:9::2', remote: 'fd00:9::1', device: 'fast', interval: 50 },
  { local: '10.9.1.2', remote: '10.9.1.1', device: 'slow', interval: 300 },
  { local: 'fd00:9:1::2', remote: 'fd00:9:1::1', device: 'slow', interval: 300 },
];
const ids = sessions.map(({ local }) => local);

const told = { reason: 'peer-admin-down', isFailure: false } as const;
/** BIRD 2.0 sends nothing when its protocol is disabled. */
const silent = { reason: 'detection-expired', isFailure: true } as const;

describe.each([
  { name: 'bfdd of FRR', start: startBfdd, disabled: told },
  { name: 'BIRD', start: startBird, disabled: silent },
  { name: 'BIRD by Meticulous Keyed SHA1', start: startBird, disabled: silent, password: 'correct horse' },
  {
    name: 'BIRD by a key of 20 octets',
    start: startBird,
    disabled: silent,
    password: '0123456789abcdefghij',
  },
])('BFD with $name, 50 ms x 3 and 300 ms x 3, IPv4 and IPv6', ({ start, disabled, password }) => {
  const namespaces: NetworkNamespace[] = [];
  let ours: NetworkNamespace;
  let theirs: NetworkNamespace;
  let end: NamespaceProcess<BfdEnd>;
  let daemon: BfdDaemon;

  beforeAll(async () => {
    ours = NetworkNamespace.create('bfd-ours');
    namespaces.push(ours);
    theirs = NetworkNamespace.create('bfd-theirs');
    namespaces.push(theirs);
    for (const [device, subnet4, subnet6] of [
      ['fast', '10.9.0', 'fd00:9:'],
      ['slow', '10.9.1', 'fd00:9:1:'],
    ] as const) {
      cable(
        { namespace: ours, device, addresses: [`${subnet4}.1/24`, `${subnet6}:1/64`] },
        { namespace: theirs, device, addresses: [`${subnet4}.2/24`, `${subnet6}:2/64`] },
      );
    }
    daemon = start(theirs, sessions, password);
    end = await ours.start<BfdEnd>(new URL('./bfd-end.ts', import.meta.url));
    const options = sessions.map(({ local, remote, interval }) => ({
      id: local,
      remoteAddress: local,
      localAddress: remote,
      transmitInterval: interval,
      receiveInterval: interval,
      detectMultiplier: 3,
      ...(password !== undefined && {
        authentication: {
          mode: 'required' as const,
          key: { id: 1, secret: new TextEncoder().encode(password) },
        },
      }),
    }));
    await end.run(({ add }, list) => add(list), options);
  });

  afterAll(async () => {
    await daemon?.stop();
    await Promise.all(namespaces.map((namespace) => namespace.remove()));
  });

  const allIn = (state: 'Up' | 'Down') =>
    end.run(({ allIn: wait }, wanted) => wait(wanted.ids, wanted.state), { ids, state });

  /** Asks the daemon until it says so of all sessions. */
  async function peerSays(isSo: (state: string | undefined) => boolean): Promise<void> {
    for (const limit = performance.now() + 15_000; performance.now() < limit; await sleep(50)) {
      const states = daemon.states();
      if (sessions.every(({ remote }) => isSo(states.get(remote)))) return;
    }
    throw new Error(`the peer says ${JSON.stringify([...daemon.states()])}`);
  }

  it('comes Up, with the intervals of both', async () => {
    await allIn('Up');
    await peerSays((state) => state === 'up');
    const { sessions: seen } = await end.run(async ({ status }) => {
      // The last Poll Sequence ends with a packet after the Final.
      for (;;) {
        const now = await status();
        if (now.sessions.every((each) => each.detectionTime === 3 * each.transmitInterval)) return now;
      }
    });
    expect(new Set(seen.map(({ authentication }) => authentication))).toEqual(
      new Set([password === undefined ? 'none' : 'required']),
    );
    expect(seen.map(({ id, transmitInterval }) => [id, transmitInterval])).toEqual(
      sessions.map(({ local, interval }) => [local, interval]),
    );
  });

  it('is no failure to the peer, nor to us, when we go AdminDown and come back', async () => {
    await end.run(({ bfd }, list) => {
      for (const id of list) bfd().setAdminDown(id, true);
    }, ids);
    await peerSays((state) => state !== 'up');
    await end.run(({ bfd }, list) => {
      for (const id of list) bfd().setAdminDown(id, false);
    }, ids);
    await allIn('Up');
    await peerSays((state) => state === 'up');
    expect(await end.run(({ failures }) => failures())).toEqual([]);
  });

  it('takes a peer that is disabled at its word', async () => {
    daemon.setAdminDown(true);
    const changes = await allIn('Down');
    expect(changes.map(({ reason, isFailure }) => ({ reason, isFailure }))).toEqual(ids.map(() => disabled));
    daemon.setAdminDown(false);
    await allIn('Up');
    await peerSays((state) => state === 'up');
  });

  it('detects a silent cut in its Detection Time, as the peer does, and comes back', async () => {
    // Both ways at once: a peer that is cut off from us alone has time to say that it is Down.
    theirs.execute(
      'nft',
      [
        'add table inet cut',
        'add chain inet cut in { type filter hook input priority 0 ; policy drop ; }',
        'add chain inet cut out { type filter hook output priority 0 ; policy drop ; }',
      ].join(';'),
    );
    const changes = await allIn('Down');
    for (const [index, change] of changes.entries()) {
      const expected = 3 * (sessions[index]?.interval ?? 0);
      expect(change).toMatchObject({ reason: 'detection-expired', isFailure: true, detectionTime: expected });
      const silence = change.at - (change.lastReceivedAt ?? 0);
      expect(silence).toBeGreaterThanOrEqual(expected);
      // What the machine adds is what our timer was late by, and one turn of the event loop.
      expect(silence - change.timerDelay).toBeLessThan(expected + 20);
    }
    await peerSays((state) => state === 'down');
    theirs.execute('nft', 'delete table inet cut');
    await allIn('Up');
    await peerSays((state) => state === 'up');
  });

  it('tells the end of our process from the death of our host when it is planned', async () => {
    await end.run(({ bfd }) => bfd().stop());
    await peerSays((state) => state !== 'up');
    for (const diagnostic of daemon.diagnostics()) expect(diagnostic).toBe('neighbor signaled session down');
    expect(await end.run(({ refusals }) => refusals())).toEqual([]);
  });
});
