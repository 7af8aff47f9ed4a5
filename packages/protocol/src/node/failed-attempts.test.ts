import { describe, expect, it } from 'vitest';
import { asn } from '../index.ts';
import { PeerPair } from './kit/peer-pair.ts';

const longEnough = 400_000;

describe('attempts at a session that fail', () => {
  it('are counted, with the error of the last one, while nothing listens there', async () => {
    const pair = new PeerPair();
    const left = await pair.start(0);
    await pair.clock.advance(longEnough);
    const { failedAttempts, lastFailure, connectRetryCounter } = left.peer.status();
    expect(failedAttempts).toBe(pair.network.attempts.length);
    expect(failedAttempts).toBeGreaterThan(1);
    expect(lastFailure?.text).toMatch(/^TCP connection failed: .*ECONNREFUSED/);
    // RFC 4271 counts otherwise.
    expect(connectRetryCounter).toBe(0);
  });

  it('are counted while nobody answers at all', async () => {
    const pair = new PeerPair();
    const left = await pair.start(0);
    pair.network.dead.add(left.peer.address);
    await pair.clock.advance(longEnough);
    const { failedAttempts, lastFailure, transitions } = left.peer.status();
    expect(failedAttempts).toBe(pair.network.attempts.length - 1);
    expect(failedAttempts).toBeGreaterThan(1);
    expect(lastFailure?.text).toBe('no TCP connection in time, next attempt');
    expect(transitions.at(-1)).toMatchObject({ from: 'Connect', to: 'Connect' });
  });

  it('are counted when a NOTIFICATION ends them, which is what is told of them', async () => {
    const pair = new PeerPair({ left: { remoteAsn: [asn(65009)] } });
    const [left] = await Promise.all([pair.start(0), pair.start(1)]);
    await pair.clock.advance(2_000);
    const { failedAttempts, lastFailure, lastNotificationSent } = left.peer.status();
    expect(failedAttempts).toBeGreaterThan(0);
    expect(lastFailure).toBeNull();
    expect(lastNotificationSent?.text).toContain('Bad Peer AS');
  });

  it('are forgotten by the count when the session comes, and the error keeps its age', async () => {
    const pair = new PeerPair();
    const left = await pair.start(0);
    await pair.clock.advance(1_000);
    await pair.start(1);
    await pair.clock.advance(longEnough);
    expect(left.peer.state).toBe('Established');
    const { failedAttempts, lastFailure } = left.peer.status();
    expect(failedAttempts).toBe(0);
    expect(lastFailure?.agoMs).toBeGreaterThan(100_000);
  });
});
