import { describe, expect, it } from 'vitest';
import type { FsmEvent } from './event.ts';
import { Peer } from './kit/peer.ts';
import { negotiatedRestart, sampleEvents } from './kit/samples.ts';

describe('a new connection of a peer with graceful restart, while a session is established,', () => {
  function established(): Peer {
    const peer = new Peer({ passive: true });
    peer.input({ type: 'start' });
    peer.establishPassive(negotiatedRestart);
    return peer;
  }
  const restarted: FsmEvent = { type: 'BGPOpen', negotiated: negotiatedRestart };
  const accepted = ['accept', 'successor: send OPEN', 'successor: start Hold 90'];

  it('replaces it by a valid OPEN, without a NOTIFICATION (RFC 4724 section 5)', () => {
    const peer = established();
    expect(peer.input({ type: 'incoming' })).toEqual(accepted);
    expect(peer.fsm.establishedRole).toBe('passive');
    expect(peer.event('successor', restarted)).toEqual([
      'passive: close',
      'passive: down tcp-closed',
      'successor: send KEEPALIVE',
      'successor: start Keepalive 30',
      'successor: start Hold 90',
      'successor: start SendHold 480',
    ]);
    expect(peer.event('successor', sampleEvents.KeepAliveMsg)).toContain('successor: established');
    expect(peer.fsm.establishedRole).toBe('successor');
  });

  it('may come again and again', () => {
    const peer = established();
    for (const role of ['successor', 'passive', 'successor'] as const) {
      peer.input({ type: 'incoming' });
      peer.event(role, restarted);
      peer.event(role, sampleEvents.KeepAliveMsg);
      expect(peer.fsm.establishedRole).toBe(role);
    }
  });

  it.each([
    ['says nothing until the hold timer', sampleEvents.HoldTimer_Expires],
    ['is closed', sampleEvents.TcpConnectionFails],
    ['brings a faulty OPEN', sampleEvents.BGPOpenMsgErr],
    ['brings a message that is none', sampleEvents.BGPHeaderErr],
    ['brings a NOTIFICATION', sampleEvents.NotifMsg],
    ['brings a KEEPALIVE first', sampleEvents.KeepAliveMsg],
    ['brings an UPDATE first', sampleEvents.UpdateMsg],
  ])('changes nothing when it %s, however often', (_, event) => {
    const peer = established();
    for (let n = 0; n < 50; n += 1) {
      expect(peer.input({ type: 'incoming' })).toEqual(accepted);
      const after = peer.event('successor', event);
      expect(after.filter((each) => each.startsWith('passive') || each.startsWith('hold'))).toEqual([]);
    }
    expect(peer.fsm.establishedRole).toBe('passive');
    expect(peer.event('passive', sampleEvents.KeepAliveMsg)).toEqual(['passive: start Hold 90']);
    // Nor does it count against the peer, who is taken again at once when the session ends.
    peer.event('passive', sampleEvents.TcpConnectionFails);
    expect(peer.fsm.isHeld).toBe(false);
    peer.establishPassive(negotiatedRestart);
    expect(peer.fsm.state).toBe('Established');
  });

  it('gives way to a newer one, and there is one at most', () => {
    const peer = established();
    peer.input({ type: 'incoming' });
    expect(peer.input({ type: 'incoming' })).toEqual([
      'successor: notify 6/7',
      'successor: close',
      ...accepted,
    ]);
  });

  it('goes on when the session ends before its OPEN', () => {
    const peer = established();
    peer.input({ type: 'incoming' });
    peer.event('passive', sampleEvents.HoldTimer_Expires);
    peer.event('successor', restarted);
    expect(peer.event('successor', sampleEvents.KeepAliveMsg)).toContain('successor: established');
  });

  it('beside a session that we opened is the passive one', () => {
    const peer = new Peer();
    peer.input({ type: 'start' });
    peer.event('active', sampleEvents.Tcp_CR_Acked);
    peer.event('active', restarted);
    peer.event('active', sampleEvents.KeepAliveMsg);
    expect(peer.input({ type: 'incoming' })).toContain('passive: send OPEN');
    expect(peer.event('passive', restarted)).toContain('active: down tcp-closed');
    expect(peer.event('passive', sampleEvents.KeepAliveMsg)).toContain('passive: established');
  });
});
