import { describe, expect, it } from 'vitest';
import { BfdHost, BfdWire, fastTiming } from './kit/bfd-wire.ts';

/** Two hosts with a session each that is Up. */
async function pair(addresses: readonly [string, string] = ['10.0.0.1', '10.0.0.2']) {
  const wire = new BfdWire();
  const left = new BfdHost(wire, addresses[0]);
  const right = new BfdHost(wire, addresses[1]);
  left.add(addresses[1]);
  right.add(addresses[0]);
  await wire.clock.advance(3000);
  return { wire, left, right };
}

const summary = ({ changes }: BfdHost): readonly string[] =>
  changes.map(({ from, to, reason }) => `${from} -> ${to}: ${reason}`);

describe('two BFD engines', () => {
  it.each([
    ['10.0.0.1', '10.0.0.2'],
    ['fd00::1', 'fd00::2'],
    ['fe80::1%eth0', 'fe80::2%eth0'],
  ] as const)('come Up between %s and %s, and stay', async (one, other) => {
    const { wire, left, right } = await pair([one, other]);
    await wire.clock.advance(10_000);
    expect(left.session(other)).toMatchObject({ state: 'Up', transmitInterval: 50, detectionTime: 150 });
    expect(left.session(other).remote).toEqual({
      state: 'Up',
      diagnostic: 0,
      discriminator: right.session(one).localDiscriminator,
    });
    expect(right.session(one).state).toBe('Up');
    expect([...left.changes, ...right.changes].some(({ from }) => from === 'Up')).toBe(false);
    // 43.75 ms between packets with this jitter; and no more than the handshake besides.
    expect(left.session(other).counters.sent).toBeGreaterThan(220);
    expect(left.session(other).counters.sent).toBeLessThan(310);
  });

  it('tell of a cut within the Detection Time, with its circumstances', async () => {
    const { wire, left, right } = await pair();
    const before = wire.clock.now();
    wire.cut.add('10.0.0.1').add('10.0.0.2');
    await wire.clock.advance(150);
    for (const host of [left, right]) {
      const change = host.changes.at(-1);
      expect(change).toMatchObject({
        from: 'Up',
        to: 'Down',
        reason: 'detection-expired',
        isFailure: true,
        diagnostic: 1,
        detectionTime: 150,
        timerDelay: 0,
        areOthersSilent: false,
      });
      expect((change?.at ?? 0) - (change?.lastReceivedAt ?? 0)).toBe(150);
      expect(change?.at).toBeLessThanOrEqual(before + 150);
    }
    expect(left.session('10.0.0.2')).toMatchObject({ remote: undefined, transmitInterval: 1000 });
    expect(left.session('10.0.0.2').counters.failures).toBe(1);
  });

  it('tell of a cut in one direction on both sides, and which side is deaf', async () => {
    const { wire, left, right } = await pair();
    wire.cut.add('10.0.0.1');
    await wire.clock.advance(150);
    expect(right.changes.at(-1)).toMatchObject({ reason: 'detection-expired', isFailure: true });
    expect(left.changes.at(-1)).toMatchObject({ reason: 'peer-down', isFailure: true, remoteDiagnostic: 1 });
  });

  it('come Up again when the wire is whole', async () => {
    const { wire, left } = await pair();
    wire.cut.add('10.0.0.1').add('10.0.0.2');
    await wire.clock.advance(500);
    wire.cut.clear();
    await wire.clock.advance(3000);
    expect(left.session('10.0.0.2').state).toBe('Up');
  });

  it('change their intervals without an interruption', async () => {
    const { wire, left, right } = await pair();
    left.engine.change('10.0.0.2', { transmitInterval: 300, receiveInterval: 300, detectMultiplier: 5 });
    await wire.clock.advance(3000);
    expect(left.session('10.0.0.2')).toMatchObject({
      state: 'Up',
      transmitInterval: 300,
      detectionTime: 900,
    });
    expect(right.session('10.0.0.1')).toMatchObject({
      state: 'Up',
      transmitInterval: 300,
      detectionTime: 1500,
    });
    left.engine.change('10.0.0.2', fastTiming);
    await wire.clock.advance(3000);
    expect(right.session('10.0.0.1')).toMatchObject({
      state: 'Up',
      transmitInterval: 50,
      detectionTime: 150,
    });
    expect(summary(left).filter((line) => line.startsWith('Up'))).toEqual([]);
  });
});

describe('the end of a BFD session', () => {
  it('is told as AdminDown, confirmed at once, and no failure to the peer', async () => {
    const { wire, left, right } = await pair();
    left.engine.remove('10.0.0.2');
    await wire.clock.advance(0);
    expect(left.removed).toEqual(['10.0.0.2']);
    expect(right.changes.at(-1)).toMatchObject({ to: 'Down', reason: 'peer-admin-down', isFailure: false });
    await wire.clock.advance(5000);
    expect(right.changes.at(-1)).toMatchObject({ reason: 'peer-admin-down' });
    expect(left.engine.status().sessions).toEqual([]);
    expect(wire.receiversOf('10.0.0.1')).toBe(0);
    expect(wire.receiversOf('10.0.0.2')).toBe(1);
  });

  it('waits for a silent peer no longer than that peer would wait', async () => {
    const { wire, left } = await pair();
    wire.cut.add('10.0.0.2');
    left.engine.remove('10.0.0.2');
    await wire.clock.advance(149);
    expect(left.removed).toEqual([]);
    await wire.clock.advance(1);
    expect(left.removed).toEqual(['10.0.0.2']);
  });

  it('gives way at once to a new session with the same name', async () => {
    const { wire, left, right } = await pair();
    wire.cut.add('10.0.0.2');
    left.engine.remove('10.0.0.2');
    left.add('10.0.0.2');
    expect(left.removed).toEqual(['10.0.0.2']);
    wire.cut.clear();
    await wire.clock.advance(3000);
    expect([left.session('10.0.0.2').state, right.session('10.0.0.1').state]).toEqual(['Up', 'Up']);
  });

  it('is that of all sessions when the engine stops', async () => {
    const { wire, left } = await pair();
    left.add('10.0.0.9');
    const stopped = left.engine.stop();
    await wire.clock.advance(0);
    await stopped;
    expect(left.removed.toSorted()).toEqual(['10.0.0.2', '10.0.0.9']);
    await expect(left.engine.stop()).resolves.toBeUndefined();
  });

  it('may be a pause: AdminDown is held, and the session comes back', async () => {
    const { wire, left, right } = await pair();
    left.engine.setAdminDown('10.0.0.2', true);
    await wire.clock.advance(10_000);
    expect(left.session('10.0.0.2')).toMatchObject({ state: 'AdminDown', diagnostic: 7 });
    expect(right.session('10.0.0.1')).toMatchObject({ state: 'Down', remote: { state: 'AdminDown' } });
    left.engine.setAdminDown('10.0.0.2', false);
    await wire.clock.advance(3000);
    expect(right.session('10.0.0.1').state).toBe('Up');
    expect([...left.changes, ...right.changes].some(({ isFailure }) => isFailure)).toBe(false);
  });
});
