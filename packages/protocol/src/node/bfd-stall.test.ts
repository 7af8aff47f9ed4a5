import { describe, expect, it } from 'vitest';
import { BfdHost, BfdWire, listenOn } from './kit/bfd-wire.ts';

const peers = Array.from({ length: 20 }, (_, index) => `10.0.1.${index + 1}`);

/** A host with twenty neighbors that the test plays; all sessions are Up. */
async function hostWithPeers() {
  const wire = new BfdWire();
  const host = new BfdHost(wire, '10.0.0.1');
  const heard = listenOn(wire, peers[0] ?? '');
  for (const peer of peers) host.add(peer);
  const all = (state: 'Down' | 'Init' | 'Up', first = 0): void => {
    for (const [index, peer] of peers.entries()) {
      if (index < first) continue;
      const { localDiscriminator } = host.session(peer);
      host.hears(peer, {
        state,
        myDiscriminator: index + 1,
        yourDiscriminator: localDiscriminator,
        final: state === 'Up',
      });
    }
  };
  all('Down');
  all('Init');
  all('Up');
  const states = (): readonly string[] => [...new Set(peers.map((peer) => host.session(peer).state))];
  expect(states()).toEqual(['Up']);
  return { wire, host, all, states, heard };
}

describe('a stall of our own', () => {
  it('is not taken for the silence of peers whose packets wait in the socket', async () => {
    const { wire, host, all, states } = await hostWithPeers();
    await wire.clock.advance(100);
    wire.isStalled = true;
    // The event loop needs four turns to read this, and the session whose timer fires first has its packet at the end.
    for (let round = 0; round < 6; round += 1) all('Up', 1);
    const { localDiscriminator } = host.session('10.0.1.1');
    host.hears('10.0.1.1', { state: 'Up', myDiscriminator: 1, yourDiscriminator: localDiscriminator });
    wire.clock.stall(500);
    await wire.clock.advance(0);
    expect(states()).toEqual(['Up']);
    expect(host.session('10.0.1.1').counters).toMatchObject({ averted: 1, failures: 0 });
  });

  it('does not hide a peer that has been silent meanwhile, and is told with the change', async () => {
    const { wire, host, all, states } = await hostWithPeers();
    await wire.clock.advance(100);
    wire.clock.stall(500);
    await wire.clock.advance(0);
    expect(states()).toEqual(['Down']);
    const change = host.changes.at(-1);
    expect(change).toMatchObject({ reason: 'detection-expired', isFailure: true, timerDelay: 450 });
    all('Down');
    expect(states()).toEqual(['Init']);
  });

  it('is followed by one packet per session, not by those that were missed', async () => {
    const { wire, all, heard } = await hostWithPeers();
    await wire.clock.advance(100);
    heard.length = 0;
    wire.isStalled = true;
    all('Up');
    wire.clock.stall(1000);
    await wire.clock.advance(1);
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatchObject({ state: 'Up' });
  });

  it('is not prolonged for ever by a flood', async () => {
    const { wire, host, states } = await hostWithPeers();
    await wire.clock.advance(100);
    wire.clock.stall(500);
    let isFlooding = true;
    const flood = (): void => {
      host.hears('192.0.2.1', new Uint8Array(24));
      if (isFlooding) setImmediate(flood);
    };
    flood();
    for (let turn = 0; turn < 12 && states()[0] === 'Up'; turn += 1) await wire.clock.advance(0);
    isFlooding = false;
    expect(states()).toEqual(['Down']);
  });
});
