import { describe, expect, it } from 'vitest';
import { parseRouterId } from '../types/router-id.ts';
import type { FsmEvent } from './event.ts';
import { open, Peer } from './kit/peer.ts';
import { sampleEvents } from './kit/samples.ts';

const higher = { routerId: parseRouterId('10.0.0.2') };
const lower = { routerId: parseRouterId('9.9.9.9') };
const equal = { routerId: parseRouterId('10.0.0.1') };

describe('connection collision (RFC 4271 section 6.8)', () => {
  it('keeps the connection that the peer opened when the identifier of the peer is higher', () => {
    const peer = new Peer().bothOpenSent();
    expect(peer.event('active', open(higher))).toEqual(['active: notify 6/7', 'active: close']);
    peer.event('passive', open(higher));
    expect(peer.event('passive', sampleEvents.KeepAliveMsg)).toContain('passive: established');
    expect(peer.fsm.establishedRole).toBe('passive');
  });

  it('keeps our own connection when our identifier is higher', () => {
    const peer = new Peer().bothOpenSent();
    expect(peer.event('passive', open(lower))).toEqual(['passive: notify 6/7', 'passive: close']);
    peer.event('active', open(lower));
    expect(peer.event('active', sampleEvents.KeepAliveMsg)).toContain('active: established');
  });

  it.each([
    ['active', higher, 'passive'],
    ['passive', higher, 'passive'],
    ['active', lower, 'active'],
    ['passive', lower, 'active'],
  ] as const)(
    'comes to the same answer when the first OPEN is on the %s connection',
    (first, theirs, survivor) => {
      const peer = new Peer().bothOpenSent();
      const loser = survivor === 'active' ? 'passive' : 'active';
      expect(peer.event(first, open(theirs))).toContain(`${loser}: close`);
    },
  );

  it('gives equal identifiers to the higher AS (RFC 6286 section 2.3)', () => {
    const peer = new Peer().bothOpenSent();
    expect(peer.event('active', open(equal))).toContain('active: notify 6/7');
  });

  it('does nothing before an OPEN arrives', () => {
    const peer = new Peer();
    peer.input({ type: 'start' });
    peer.event('active', sampleEvents.Tcp_CR_Acked);
    expect(peer.input({ type: 'incoming' })).toEqual([
      'accept',
      'passive: send OPEN',
      'passive: start Hold 90',
    ]);
  });

  it('sees no collision in an attempt that has no connection yet', () => {
    const peer = new Peer();
    peer.input({ type: 'start' });
    peer.input({ type: 'incoming' });
    expect(peer.event('passive', open(lower))).toContain('passive: send KEEPALIVE');
  });

  it('ends its own attempt when the session is established on the other connection', () => {
    const peer = new Peer();
    peer.input({ type: 'start' });
    peer.input({ type: 'incoming' });
    peer.event('passive', open());
    expect(peer.event('passive', sampleEvents.KeepAliveMsg)).toEqual([
      'active: close',
      'passive: start Hold 90',
      'passive: established',
    ]);
  });

  it('refuses a new connection while established with 6/7, and leaves the session alone', () => {
    const peer = new Peer({ passive: true });
    peer.input({ type: 'start' });
    peer.establishPassive();
    expect(peer.input({ type: 'incoming' })).toEqual(['refuse 6/7']);
    expect(peer.fsm.state).toBe('Established');
  });

  it('lets a newer connection of the peer replace an older one that is not established', () => {
    const peer = new Peer({ passive: true });
    peer.input({ type: 'start' });
    peer.input({ type: 'incoming' });
    peer.event('passive', open());
    expect(peer.input({ type: 'incoming' })).toEqual([
      'passive: notify 6/7',
      'passive: close',
      'accept',
      'passive: send OPEN',
      'passive: start Hold 90',
    ]);
  });
});

describe('attempts to connect', () => {
  it('come later and later, up to connectRetryTime', () => {
    const peer = new Peer({ connectRetryTime: 5 });
    peer.input({ type: 'start' });
    const delays: (string | undefined)[] = [];
    for (let attempt = 0; attempt < 5; attempt += 1) {
      delays.push(peer.event('active', { type: 'TcpConnectionFails', cause: 'refused', detail: '' }).at(-1));
      peer.event('active', sampleEvents.ConnectRetryTimer_Expires);
    }
    expect(delays).toEqual([1, 2, 4, 5, 5].map((seconds) => `active: start ConnectRetry ${seconds}`));
  });

  it('are never made by a passive peer', () => {
    const peer = new Peer({ passive: true });
    expect(peer.input({ type: 'start' })).toEqual([]);
    expect(peer.event('active', sampleEvents.ConnectRetryTimer_Expires)).toEqual([]);
    expect(peer.fsm.state).toBe('Active');
  });

  it('start again at once after the first loss of a session', () => {
    const peer = new Peer();
    peer.input({ type: 'start' });
    peer.event('active', sampleEvents.Tcp_CR_Acked);
    peer.event('active', open());
    peer.event('active', sampleEvents.KeepAliveMsg);
    expect(peer.event('active', sampleEvents.TcpConnectionFails)).toEqual([
      'active: close',
      'active: down tcp-closed',
      'active: start ConnectRetry 120',
      'active: connect',
    ]);
  });
});

describe('a peer that keeps failing', () => {
  function failures(peer: Peer, count: number, calmSeconds = 0): readonly string[] {
    const holds: string[] = [];
    for (let round = 0; round < count; round += 1) {
      peer.establishPassive();
      peer.now += calmSeconds * 1000;
      const answer = peer.event('passive', sampleEvents.NotifMsg).find((each) => each.startsWith('hold'));
      holds.push(answer ?? 'none');
      if (answer !== undefined) {
        peer.now += Number(answer.split(' ')[1]) * 1000;
        peer.input({ type: 'idleHoldExpired' });
      }
    }
    return holds;
  }

  function passivePeer(): Peer {
    const peer = new Peer({ passive: true });
    peer.input({ type: 'start' });
    return peer;
  }

  it('is held in Idle for longer and longer, up to a bound, also when it is passive', () => {
    expect(failures(passivePeer(), 9)).toEqual([
      'none',
      'hold 1',
      'hold 2',
      'hold 4',
      'hold 8',
      'hold 16',
      'hold 30',
      'hold 30',
      'hold 30',
    ]);
  });

  it('is forgiven as it stays up', () => {
    const peer = passivePeer();
    failures(peer, 5);
    expect(failures(peer, 3, 300)).toEqual(['none', 'none', 'none']);
  });

  const bfdDown = { code: 6, subcode: 10, data: new Uint8Array(0) };
  it.each<[string, FsmEvent]>([
    ['being started again and again', sampleEvents.TcpConnectionFails],
    ['a BFD that is down again and again', { type: 'NotifMsg', notification: bfdDown }],
  ])('is not held for %s, when each session lasted a second', (_, event) => {
    const restarts = (lasted: number): boolean[] => {
      const peer = passivePeer();
      return Array.from({ length: 4 }, () => {
        peer.establishPassive();
        peer.now += lasted;
        peer.event('passive', event);
        return peer.fsm.isHeld;
      });
    };
    expect(restarts(1_000)).toEqual([false, false, false, false]);
    expect(restarts(999)).toContain(true);
  });

  it('is refused while it is held', () => {
    const peer = passivePeer();
    peer.establishPassive();
    peer.event('passive', sampleEvents.NotifMsg);
    peer.establishPassive();
    peer.event('passive', sampleEvents.NotifMsg);
    expect(peer.fsm.isHeld).toBe(true);
    expect(peer.input({ type: 'incoming' })).toEqual(['refuse']);
    peer.input({ type: 'idleHoldExpired' });
    expect(peer.input({ type: 'incoming' })).toContain('accept');
  });

  it('is not held for losing a collision', () => {
    const peer = new Peer().bothOpenSent();
    peer.event('active', open(higher));
    expect(peer.fsm.isHeld).toBe(false);
  });
});

describe('the operator', () => {
  const notification = { code: 6, subcode: 2, data: new Uint8Array(0) };

  it('stops both connections by Cease, and the peer stays down', () => {
    const peer = new Peer().bothOpenSent();
    expect(peer.input({ type: 'stop', notification })).toEqual([
      'active: notify 6/2',
      'active: close',
      'passive: notify 6/2',
      'passive: close',
    ]);
    expect(peer.fsm.connectRetryCounter).toBe(0);
    expect(peer.input({ type: 'incoming' })).toEqual(['refuse']);
  });

  it('stops without a word for a graceful restart', () => {
    const peer = new Peer({ passive: true });
    peer.input({ type: 'start' });
    peer.establishPassive();
    expect(peer.input({ type: 'stop', notification: undefined })).toEqual([
      'passive: close',
      'passive: down stopped',
    ]);
  });

  it('resets a session, which starts again at once', () => {
    const peer = new Peer();
    peer.input({ type: 'start' });
    peer.establishPassive();
    expect(peer.input({ type: 'reset', notification: { ...notification, subcode: 4 } })).toEqual([
      'passive: notify 6/4',
      'passive: close',
      'passive: down stopped',
      'active: start ConnectRetry 120',
      'active: connect',
    ]);
  });

  it('releases a held peer', () => {
    const peer = new Peer({ passive: true });
    peer.input({ type: 'start' });
    for (let round = 0; round < 2; round += 1) {
      peer.establishPassive();
      peer.event('passive', sampleEvents.NotifMsg);
    }
    expect(peer.input({ type: 'stop', notification })).toContain('stopIdleHold');
    peer.input({ type: 'start' });
    expect(peer.fsm.state).toBe('Active');
  });
});
