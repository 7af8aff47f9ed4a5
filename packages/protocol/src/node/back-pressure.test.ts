import { describe, expect, it } from 'vitest';
import { remoteOpen } from '../fsm/kit/samples.ts';
import { asn, encodeMessage, ipv4Unicast, openContext } from '../index.ts';
import type { MemorySocket } from './kit/memory-sockets.ts';
import { PeerPair, type Side } from './kit/peer-pair.ts';
import { manyRoutes, prefixesOf } from './kit/routes.ts';

/** Two speakers, and the socket of the right one, whose process can be made to read nothing. */
async function paused(): Promise<{
  pair: PeerPair;
  left: Side;
  right: Side;
  reader: MemorySocket;
}> {
  const pair = new PeerPair({ left: { holdTime: 30 } });
  const [left, right] = await pair.up();
  const { from, dialler, accepted } = pair.network.connections.at(-1) ?? {};
  const reader = from === '10.0.0.2' ? dialler : accepted;
  if (reader === undefined) throw new Error('no connection');
  reader.pause();
  return { pair, left, right, reader };
}

describe('a peer that does not read', () => {
  it('gets only what fits; the rest waits', async () => {
    const { pair, left } = await paused();
    left.peer.setRoutes(ipv4Unicast, manyRoutes(5000));
    await pair.clock.advance(1);
    expect(left.peer.status().messages.sent.UPDATE).toBeLessThan(2500);
  });

  it('gets the rest, and the newest of it, as soon as it reads again', async () => {
    const { pair, left, right, reader } = await paused();
    left.peer.setRoutes(ipv4Unicast, manyRoutes(5000));
    await pair.clock.advance(1);
    const wanted = manyRoutes(5000).slice(0, 4000);
    left.peer.setRoutes(ipv4Unicast, wanted);
    await pair.clock.advance(1);
    reader.resume();
    await pair.clock.advance(1000);
    expect(prefixesOf(right.peer.paths())).toHaveLength(4000);
    expect(left.peer.state).toBe('Established');
  });

  it('still gets KEEPALIVEs', async () => {
    const { pair, left } = await paused();
    left.peer.setRoutes(ipv4Unicast, manyRoutes(5000));
    await pair.clock.advance(1);
    const before = left.peer.status().messages.sent.KEEPALIVE;
    await pair.clock.advance(25_000);
    expect(left.peer.status().messages.sent.KEEPALIVE).toBe(before + 2);
  });

  it('is dropped with 8/0 when it takes nothing for SendHoldTime, though it sends (RFC 9687)', async () => {
    const pair = new PeerPair({ left: { passive: true, holdTime: 30, sendHoldTime: 100 } });
    const left = await pair.start(0);
    left.peer.setRoutes(ipv4Unicast, manyRoutes(5000));
    const stuck = pair.network.host('10.0.0.2').open('10.0.0.1', {});
    stuck.connect(179, '10.0.0.1');
    await pair.clock.advance(1);
    const context = openContext(asn(65002));
    stuck.write(encodeMessage(remoteOpen(), context));
    for (let second = 0; second < 100; second += 10) {
      stuck.write(encodeMessage({ type: 'KEEPALIVE' }, context));
      await pair.clock.advance(10_000);
      if (second < 90) expect(left.peer.state).toBe('Established');
    }
    expect(left.heard.down).toMatchObject([{ kind: 'hold-timer-expired', code: 8, subcode: 0 }]);
  });
});
