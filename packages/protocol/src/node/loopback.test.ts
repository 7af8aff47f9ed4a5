import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { asn, ipv4Unicast, parseRouterId } from '../index.ts';
import { type Clock, systemClock } from './clock.ts';
import { prefixesOf, routes } from './kit/routes.ts';
import { signal } from './kit/signal.ts';
import type { DownReason } from './peer-event.ts';
import type { PeerOptions } from './peer-settings.ts';
import { plainSockets, type Sockets } from './sockets.ts';
import { BgpSpeaker, type SpeakerHandlers } from './speaker.ts';

/** Real TCP on 127.0.0.1 and 127.0.0.2, on a port of its own for each test. */
let nextPort = 20_000 + (process.pid % 12_000);
const speakers: BgpSpeaker[] = [];

afterEach(async () => {
  await Promise.all(speakers.splice(0).map((speaker) => speaker.close()));
});

async function speakerAt(
  index: 1 | 2,
  port: number,
  handlers: SpeakerHandlers = {},
  sockets: Sockets = plainSockets,
  clock: Clock = systemClock,
): Promise<BgpSpeaker> {
  const speaker = new BgpSpeaker({
    asn: asn(65000 + index),
    routerId: parseRouterId(`127.0.0.${index}`),
    handlers,
    sockets,
    clock,
  });
  speakers.push(speaker);
  await speaker.listen({ address: `127.0.0.${index}`, port });
  return speaker;
}

function neighbor(index: 1 | 2, port: number, more: Partial<PeerOptions> = {}): PeerOptions {
  const other = index === 1 ? 2 : 1;
  return {
    name: `speaker ${other}`,
    address: `127.0.0.${other}`,
    port,
    remoteAsn: [asn(65000 + other)],
    connectRetryTime: 1,
    socket: { localAddress: `127.0.0.${index}` },
    ...more,
  };
}

describe('over real TCP', () => {
  it('routes are exchanged and withdrawn', async () => {
    const port = nextPort++;
    const announced = signal<readonly string[]>();
    const withdrawn = signal<readonly string[]>();
    const one = await speakerAt(1, port);
    const two = await speakerAt(2, port, {
      routes: (_peer, change) => {
        if (change.announced.length > 0) announced.hear(prefixesOf(change.announced));
        if (change.withdrawn.length > 0) withdrawn.hear(prefixesOf(change.withdrawn));
      },
    });
    const peer = one.addPeer(neighbor(1, port));
    peer.setRoutes(ipv4Unicast, routes('10.9.0.0/24'));
    two.addPeer(neighbor(2, port));
    expect(await announced.heard).toEqual(['10.9.0.0/24']);
    peer.setRoutes(ipv4Unicast, []);
    expect(await withdrawn.heard).toEqual(['10.9.0.0/24']);
  });

  it('a NOTIFICATION arrives with its text before TCP closes', async () => {
    const port = nextPort++;
    const up = signal<void>();
    const down = signal<DownReason>();
    const one = await speakerAt(1, port, { established: () => up.hear() });
    const two = await speakerAt(2, port, { down: (_peer, reason) => down.hear(reason) });
    const peer = one.addPeer(neighbor(1, port));
    two.addPeer(neighbor(2, port, { passive: true }));
    await up.heard;
    peer.stop({ text: 'maintenance until noon' });
    expect(await down.heard).toMatchObject({
      kind: 'notification-received',
      code: 6,
      subcode: 2,
      text: 'NOTIFICATION received: Cease/Administrative Shutdown: maintenance until noon',
    });
  });

  it('a NOTIFICATION arrives also at a peer that keeps sending', async () => {
    const port = nextPort++;
    // Two seconds are not enough for so much on a busy machine.
    const patient: Clock = { ...systemClock, after: (ms, fire) => systemClock.after(30 * ms, fire) };
    const one = await speakerAt(1, port, {}, plainSockets, patient);
    one.addPeer(neighbor(1, port, { passive: true }));
    const flooding = plainSockets.open('127.0.0.1', { localAddress: '127.0.0.2' });
    const errors: Error[] = [];
    flooding.on('error', (error) => errors.push(error));
    const received: number[] = [];
    flooding.on('data', (chunk: Uint8Array) => received.push(...chunk));
    flooding.connect(port, '127.0.0.1');
    await once(flooding, 'connect');
    // No marker, and far more than a socket's buffers hold.
    flooding.end(new Uint8Array(16 * 1024 * 1024));
    await once(flooding, 'close');
    expect(errors).toEqual([]);
    expect(received.slice(-3)).toEqual([3, 1, 1]);
  });

  it('a silent peer is dropped by the hold timer, and told so', async () => {
    const port = nextPort++;
    const down = signal<DownReason>();
    const one = await speakerAt(1, port, { down: (_peer, reason) => down.hear(reason) });
    one.addPeer(neighbor(1, port, { passive: true, holdTime: 3 }));
    const silent = plainSockets.open('127.0.0.1', { localAddress: '127.0.0.2' });
    silent.connect(port, '127.0.0.1');
    const received: number[] = [];
    silent.on('data', (chunk: Uint8Array) => received.push(...chunk));
    await once(silent, 'connect');
    const marker = Array.from({ length: 16 }, () => 0xff);
    // OPEN: version 4, AS 65002, hold time 3, identifier 127.0.0.2, no parameters; then one KEEPALIVE.
    silent.write(Uint8Array.from([...marker, 0, 29, 1, 4, 0xfd, 0xea, 0, 3, 127, 0, 0, 2, 0]));
    silent.write(Uint8Array.from([...marker, 0, 19, 4]));
    expect(await down.heard).toMatchObject({ kind: 'hold-timer-expired', code: 4 });
    await once(silent, 'close');
    expect(received.slice(-3)).toEqual([3, 4, 0]);
  });

  it.each([
    ['resetAndDestroy', 'tcp-reset'],
    ['destroy', 'tcp-closed'],
  ] as const)(
    'a process that dies (%s) keeps its paths as stale ones, and a later Cease drops them',
    async (death, kind) => {
      const port = nextPort++;
      const sockets: Socket[] = [];
      const downs: DownReason[] = [];
      const wake: (() => void)[] = [];
      const announced = signal<void>();
      const again = signal<void>();
      const one = await speakerAt(
        1,
        port,
        { established: (peer) => peer.setRoutes(ipv4Unicast, routes('10.9.0.0/24')) },
        {
          ...plainSockets,
          open: (address, options) => {
            const socket = plainSockets.open(address, options);
            sockets.push(socket);
            return socket;
          },
        },
      );
      const two = await speakerAt(2, port, {
        routes: (_peer, change) => {
          if (change.announced.length > 0) announced.hear();
          if ((change.refreshed?.length ?? 0) > 0) again.hear();
        },
        down: (_peer, reason) => {
          downs.push(reason);
          wake.shift()?.();
        },
      });
      const watched = two.addPeer(neighbor(2, port, { passive: true, retainPaths: 'always' }));
      const peer = one.addPeer(neighbor(1, port));
      await announced.heard;
      const lost = new Promise<void>((resolve) => wake.push(resolve));
      sockets[0]?.[death]();
      await lost;
      expect(downs).toMatchObject([{ kind, pathsKept: true }]);
      expect(prefixesOf(watched.paths())).toEqual(['10.9.0.0/24 stale']);
      await again.heard;
      expect(prefixesOf(watched.paths())).toEqual(['10.9.0.0/24']);
      const ended = new Promise<void>((resolve) => wake.push(resolve));
      peer.stop();
      await ended;
      expect(downs[1]).toMatchObject({ kind: 'notification-received', pathsKept: false });
      expect(watched.paths()).toEqual([]);
    },
  );

  it('fifty simultaneous starts give fifty sessions', async () => {
    const port = nextPort++;
    const one = await speakerAt(1, port);
    const two = await speakerAt(2, port);
    for (let round = 0; round < 50; round += 1) {
      const left = one.addPeer(neighbor(1, port));
      const right = two.addPeer(neighbor(2, port));
      await expect
        .poll(() => [left.state, right.state], { interval: 2, timeout: 4000 })
        .toEqual(['Established', 'Established']);
      expect(left.status().localAddress).toBe(right.status().remoteAddress);
      expect(left.status().remoteAddress).toBe(right.status().localAddress);
      await Promise.all([one.removePeer(left), two.removePeer(right)]);
    }
  });
});

describe('plain sockets', () => {
  it('refuse what they cannot do rather than do without', () => {
    expect(() => plainSockets.open('127.0.0.1', { password: 'x' })).toThrow('TCP MD5');
    expect(() => plainSockets.open('127.0.0.1', { ttlSecurityHops: 1 })).toThrow('GTSM');
  });

  it('say when an address cannot be listened on', async () => {
    const port = nextPort++;
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    await expect(
      plainSockets.listen({ address: '127.0.0.1', port, backlog: 1 }, () => undefined),
    ).rejects.toThrow('EADDRINUSE');
    other.close();
    await once(other, 'close');
  });
});
