import { describe, expect, it } from 'vitest';
import { BfdHost, BfdWire } from './kit/bfd-wire.ts';

const address = '10.0.0.1';

/** A host with sessions that are Up for a while, to hosts whose packets leave at different times. */
async function hostWith(peers: readonly string[]) {
  const wire = new BfdWire();
  const host = new BfdHost(wire, address);
  for (const [index, peer] of peers.entries()) {
    host.add(peer);
    new BfdHost(wire, peer, { random: () => index / peers.length }).add(address);
    await wire.clock.advance(7);
  }
  await wire.clock.advance(10_000);
  expect(peers.map((peer) => host.session(peer).state)).toEqual(peers.map(() => 'Up'));
  host.changes.length = 0;
  const failures = (): string[] =>
    host.changes
      .filter(({ reason }) => reason === 'detection-expired')
      .map(({ id, areOthersSilent }) => `${id} ${areOthersSilent ? 'with the others' : 'alone'}`)
      .sort();
  return { wire, host, failures };
}

describe('a silence', () => {
  it('of one peer is told as its own', async () => {
    const { wire, failures } = await hostWith(['10.0.0.2', '10.0.0.3', '10.0.0.4']);
    wire.cut.add('10.0.0.3');
    await wire.clock.advance(1000);
    expect(failures()).toEqual(['10.0.0.3 alone']);
  });

  it('of two peers is their own as long as a third is heard', async () => {
    const { wire, failures } = await hostWith(['10.0.0.2', '10.0.0.3', '10.0.0.4']);
    wire.cut.add('10.0.0.3').add('10.0.0.4');
    await wire.clock.advance(1000);
    expect(failures()).toEqual(['10.0.0.3 alone', '10.0.0.4 alone']);
  });

  it('of all peers is told so from the first session to the last', async () => {
    const peers = ['10.0.0.2', '10.0.0.3', '10.0.0.4'];
    const { wire, failures } = await hostWith(peers);
    for (const peer of peers) wire.cut.add(peer);
    await wire.clock.advance(1000);
    expect(failures()).toEqual(peers.map((peer) => `${peer} with the others`));
  });

  it('of all peers is told so when a lost session is taken away at once and made anew', async () => {
    const peers = ['10.0.0.2', '10.0.0.3', '10.0.0.4'];
    const { wire, host, failures } = await hostWith(peers);
    for (const peer of peers) wire.cut.add(peer);
    while (failures().length < peers.length) {
      await wire.clock.advance(1);
      const lost = host.changes.at(-1)?.id;
      if (lost !== undefined && host.session(lost).state === 'Down') {
        host.engine.remove(lost);
        host.add(lost);
      }
    }
    expect(failures()).toEqual(peers.map((peer) => `${peer} with the others`));
  });

  it('of the only peer says nothing of anybody else', async () => {
    const { wire, failures } = await hostWith(['10.0.0.2']);
    wire.cut.add('10.0.0.2');
    await wire.clock.advance(1000);
    expect(failures()).toEqual(['10.0.0.2 alone']);
  });

  it('of a peer that was lost long ago does not make that of another one common', async () => {
    const { wire, failures } = await hostWith(['10.0.0.2', '10.0.0.3']);
    wire.cut.add('10.0.0.2');
    await wire.clock.advance(5000);
    wire.cut.add('10.0.0.3');
    await wire.clock.advance(1000);
    expect(failures()).toEqual(['10.0.0.2 alone', '10.0.0.3 alone']);
  });
});
