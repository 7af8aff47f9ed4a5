import { describe, expect, it } from 'vitest';
import { fast, Machine } from './kit/machine.ts';
import { bfdDetectionTime, unknownRemote } from './session.ts';

describe('the Detection Time', () => {
  it.each([
    { detectMult: 3, desiredMinTx: 50_000, requiredMinRx: 50_000, expected: 150 },
    { detectMult: 5, desiredMinTx: 50_000, requiredMinRx: 50_000, expected: 250 },
    { detectMult: 3, desiredMinTx: 300_000, requiredMinRx: 50_000, expected: 900 },
    { detectMult: 3, desiredMinTx: 50_000, requiredMinRx: 300_000, expected: 900 },
    { detectMult: 255, desiredMinTx: 0xffff_ffff, requiredMinRx: 1, expected: 1_095_216_660.225 },
  ])('is the multiplier of the peer times the slower interval: $expected ms', (row) => {
    const { detectMult, desiredMinTx, requiredMinRx, expected } = row;
    const machine = new Machine({ desiredMinTx: 50_000, requiredMinRx, detectMult: 9 });
    machine.up({ detectMult, desiredMinTx });
    expect(bfdDetectionTime(machine.session)).toBeCloseTo(expected, 3);
  });

  it('is unknown without a peer', () => {
    expect(new Machine().untilDetection).toBeUndefined();
  });

  it.each(['Init', 'Up'] as const)('ends a session in %s with diagnostic 1, and tells the peer', (state) => {
    const machine = new Machine().hear({ yourDiscriminator: 0 });
    if (state === 'Up') machine.hear({ state: 'Init' });
    machine.wait(149.9).detect();
    expect(machine.session.state).toBe(state);
    machine.wait(0.1).detect();
    expect(machine.changes).toEqual([`${state} -> Down: detection-expired`]);
    expect(machine.sent).toMatchObject([{ state: 'Down', diagnostic: 1, yourDiscriminator: 0 }]);
    expect(machine.untilTransmit).toBe(1000);
  });

  it('begins anew with each packet', () => {
    const machine = new Machine().up();
    for (let round = 0; round < 10; round += 1) {
      machine.wait(149).hear({ state: 'Up' }).detect();
      expect(machine.session.state).toBe('Up');
    }
  });

  it('does not end a session whose packets waited in the socket while we stalled', () => {
    const machine = new Machine().up().wait(500).hear({ state: 'Up' }).detect();
    expect(machine.session.state).toBe('Up');
    expect(machine.untilDetection).toBe(150);
  });

  it.each(['Down', 'AdminDown'] as const)('has the peer forgotten in %s as well', (state) => {
    const machine = new Machine().up();
    if (state === 'AdminDown') machine.handle({ type: 'admin-down' });
    machine.hear({ state: 'AdminDown', requiredMinRx: 5_000_000 });
    expect(machine.session.state).toBe(state);
    expect(machine.wait(150).detect().changes).toEqual([]);
    expect(machine.session.remote).toEqual(unknownRemote);
    expect(machine.untilDetection).toBeUndefined();
    expect(machine.wait(1000).transmit().sent).toMatchObject([{ state, yourDiscriminator: 0 }]);
  });

  it('of a peer that sends with a bare interval of 0 is still ours to choose', () => {
    expect(bfdDetectionTime(new Machine().up({ desiredMinTx: 0 }).session)).toBe(150);
  });

  it('lets the session come Up again when the peer returns', () => {
    const machine = new Machine(fast).up().wait(150).detect();
    machine.hear({ state: 'Up' });
    expect(machine.session.state).toBe('Down');
    machine.hear({ state: 'Down' }).hear({ state: 'Up' });
    expect(machine.session).toMatchObject({ state: 'Up', diagnostic: 0 });
  });
});
