import { describe, expect, it } from 'vitest';
import { remoteOpen } from '../fsm/kit/samples.ts';
import { asn, encodeMessage, openContext } from '../index.ts';
import { PeerPair } from './kit/peer-pair.ts';

describe('the hold timer', () => {
  it('ends a silent session with 4/0 after the hold time, not before', async () => {
    const pair = new PeerPair({ left: { holdTime: 9 }, right: { holdTime: 9 } });
    const [left, right] = await pair.up();
    pair.network.connections.at(-1)?.dialler.cut();
    await pair.clock.advance(6500);
    expect(left.heard.down).toEqual([]);
    await pair.clock.advance(2600);
    expect(left.heard.down).toMatchObject([
      { kind: 'hold-timer-expired', code: 4, subcode: 0, pathsKept: false },
    ]);
    expect(right.heard.down).toMatchObject([{ kind: 'hold-timer-expired' }]);
  });

  it('is shown with what is left of it, as are the other timers that run, and none is when the session is over', async () => {
    const pair = new PeerPair({ left: { holdTime: 9 }, right: { holdTime: 9, passive: true } });
    const [left] = await pair.up();
    pair.network.connections.at(-1)?.dialler.cut();
    const { timers: before } = left.peer.status();
    expect(before.Hold).toBeGreaterThan(6000);
    expect(before.Keepalive).toBeLessThanOrEqual(3000);
    await pair.clock.advance(1000);
    expect(left.peer.status().timers.Hold).toBe((before.Hold ?? 0) - 1000);
    left.peer.stop();
    expect(left.peer.status().timers).toEqual({});
  });

  it('is kept from expiring by KEEPALIVEs', async () => {
    const pair = new PeerPair({ left: { holdTime: 3 }, right: { holdTime: 90 } });
    const [left, right] = await pair.up();
    await pair.clock.advance(60_000);
    expect([left.heard.down, right.heard.down]).toEqual([[], []]);
  });

  it('is not believed after a stall of our own process before waiting input was read', async () => {
    const pair = new PeerPair({ left: { holdTime: 9, passive: true } });
    const left = await pair.start(0);
    const remote = pair.network.host('10.0.0.2').open('10.0.0.1', {});
    remote.resume();
    remote.connect(179, '10.0.0.1');
    await pair.clock.advance(1);
    const context = openContext(asn(65002));
    remote.write(encodeMessage(remoteOpen(), context));
    remote.write(encodeMessage({ type: 'KEEPALIVE' }, context));
    await pair.clock.advance(1);
    expect(left.peer.state).toBe('Established');
    pair.clock.stall(20_000);
    remote.write(encodeMessage({ type: 'KEEPALIVE' }, context));
    await pair.clock.advance(8000);
    expect(left.peer.state).toBe('Established');
    await pair.clock.advance(1100);
    expect(left.heard.down).toMatchObject([{ kind: 'hold-timer-expired' }]);
  });

  it('does not exist with a hold time of zero, and no KEEPALIVE follows the first', async () => {
    const pair = new PeerPair({ left: { holdTime: 0 } });
    const [left, right] = await pair.up();
    pair.network.connections.at(-1)?.dialler.cut();
    await pair.clock.advance(1_000_000);
    expect(left.peer.state).toBe('Established');
    expect(right.peer.state).toBe('Established');
    expect(left.peer.status().messages.sent.KEEPALIVE).toBe(1);
  });
});

describe('KEEPALIVEs', () => {
  it('are never more than one in a second, with the shortest hold time and the most jitter (RFC 4271 section 4.4)', async () => {
    const pair = new PeerPair({ left: { holdTime: 3 }, random: () => 0 });
    const [left, right] = await pair.up();
    const before = left.peer.status().messages.sent.KEEPALIVE;
    await pair.clock.advance(60_000);
    expect(left.peer.status().messages.sent.KEEPALIVE - before).toBe(60);
    expect([left.heard.down, right.heard.down]).toEqual([[], []]);
  });

  it.each([
    [0, 22.5],
    [0.999, 30],
  ])(
    'come at an interval with jitter (RFC 4271 section 10): random %f gives %f s',
    async (random, interval) => {
      const pair = new PeerPair({ random: () => random });
      const [left] = await pair.up();
      const before = left.peer.status().messages.sent.KEEPALIVE;
      await pair.clock.advance(10 * interval * 1000);
      const sent = left.peer.status().messages.sent.KEEPALIVE - before;
      expect(sent).toBeGreaterThanOrEqual(9);
      expect(sent).toBeLessThanOrEqual(11);
    },
  );
});

describe('attempts to connect', () => {
  it('are spaced, never in a tight loop, while the port is closed', async () => {
    const pair = new PeerPair({ left: { connectRetryTime: 5 } });
    await pair.start(0);
    await pair.clock.advance(60_000);
    const { length } = pair.network.attempts;
    expect(length).toBeGreaterThanOrEqual(12);
    expect(length).toBeLessThanOrEqual(16);
  });

  it('are given up and made anew when nobody answers', async () => {
    const pair = new PeerPair({ left: { connectRetryTime: 5 } });
    pair.network.dead.add('10.0.0.2');
    await pair.start(0);
    await pair.clock.advance(51_000);
    expect(pair.network.attempts).toHaveLength(11);
  });

  it('are never made by a passive peer', async () => {
    const pair = new PeerPair({ left: { passive: true, connectRetryTime: 5 } });
    await pair.start(0);
    await pair.clock.advance(60_000);
    expect(pair.network.attempts).toEqual([]);
  });

  it('find a peer within connectRetryTime of its start', async () => {
    const pair = new PeerPair({ left: { connectRetryTime: 5 }, right: { passive: true } });
    const left = await pair.start(0);
    await pair.clock.advance(60_000);
    await pair.start(1);
    await pair.clock.advance(5000);
    expect(left.peer.state).toBe('Established');
  });
});

describe('a connection without an OPEN', () => {
  it('gets our OPEN at once, and 4/0 when the hold time is over', async () => {
    const pair = new PeerPair({ left: { passive: true } });
    const left = await pair.start(0);
    const silent = pair.network.host('10.0.0.2').open('10.0.0.1', {});
    silent.on('error', () => undefined);
    silent.connect(179, '10.0.0.1');
    const received: number[] = [];
    silent.on('data', (chunk: Uint8Array) => received.push(...chunk));
    await pair.clock.advance(100);
    expect(received[18]).toBe(1);
    await pair.clock.advance(88_000);
    expect(left.peer.state).toBe('OpenSent');
    await pair.clock.advance(2000);
    expect(received.slice(-3)).toEqual([3, 4, 0]);
    expect(left.peer.state).toBe('Active');
  });
});
