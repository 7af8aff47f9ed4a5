import { describe, expect, it } from 'vitest';
import { fast, Machine } from './kit/machine.ts';

const second = 1_000_000;

describe('the transmit interval', () => {
  it('is a second at least before Up', () => {
    const machine = new Machine().transmit();
    expect(machine.untilTransmit).toBe(1000);
    machine.hear({ state: 'Down', yourDiscriminator: 0 });
    expect(machine.session.state).toBe('Init');
    expect(machine.sent).toMatchObject([{ desiredMinTx: second }]);
    expect(machine.untilTransmit).toBe(1000);
  });

  it('is the wanted one at once in Up, counted from a packet that leaves at once', () => {
    const machine = new Machine().transmit().hear({ yourDiscriminator: 0 }).wait(700).hear({ state: 'Init' });
    expect(machine.sent).toMatchObject([{ state: 'Up', desiredMinTx: 50_000, poll: true }]);
    expect(machine.untilTransmit).toBe(50);
  });

  it('is the slower of what we want and the peer takes', () => {
    expect(new Machine().up({ requiredMinRx: 200_000 }).untilTransmit).toBe(200);
    expect(new Machine().up({ requiredMinRx: 10_000 }).untilTransmit).toBe(50);
  });

  it('falls at once when the Required Min RX of the peer falls', () => {
    const machine = new Machine().up({ requiredMinRx: second }).wait(30);
    expect(machine.untilTransmit).toBe(970);
    machine.hear({ state: 'Up', requiredMinRx: 50_000 });
    expect(machine.untilTransmit).toBe(20);
  });

  it('has passed already when the Required Min RX of the peer falls late', () => {
    const machine = new Machine().up({ requiredMinRx: second }).wait(400);
    machine.hear({ state: 'Up', requiredMinRx: 50_000 });
    expect(machine.untilTransmit).toBeLessThanOrEqual(0);
    expect(machine.transmit().sent).toHaveLength(1);
  });

  it('grows at once with the Required Min RX of the peer', () => {
    const machine = new Machine().up().hear({ state: 'Up', requiredMinRx: 400_000 });
    expect(machine.untilTransmit).toBe(400);
  });

  it.each([
    { detectMult: 3, random: 0, part: 1 },
    { detectMult: 3, random: 0.999999, part: 0.75 },
    { detectMult: 1, random: 0, part: 0.9 },
    { detectMult: 1, random: 0.999999, part: 0.75 },
  ])('with multiplier $detectMult and jitter $random is $part of itself', ({ detectMult, random, part }) => {
    const machine = new Machine({ ...fast, detectMult }).up();
    machine.random = random;
    machine.wait(50).transmit();
    expect(machine.untilTransmit).toBeCloseTo(50 * part, 3);
  });

  it.each([3, 1])('with multiplier %i may be cut by a quarter for company, and by no more', (detectMult) => {
    const machine = new Machine({ ...fast, detectMult }).up();
    machine.wait(50).transmit().wait(37.4);
    expect(machine.handle({ type: 'transmit-shared' }).sent).toEqual([]);
    machine.wait(0.1).handle({ type: 'transmit-shared' });
    expect(machine.sent).toMatchObject([{ state: 'Up' }]);
    expect(machine.untilTransmit).toBeCloseTo(detectMult === 1 ? 45 : 50, 3);
  });

  it('is not cut for company where the peer wants no packets', () => {
    const machine = new Machine().up({ requiredMinRx: 0 }).wait(5000);
    expect(machine.handle({ type: 'transmit-shared' }).sent).toEqual([]);
  });

  it('has no burst after a stall: one packet, then a whole interval', () => {
    const machine = new Machine().up().wait(1000).transmit();
    expect(machine.sent).toHaveLength(1);
    expect(machine.untilTransmit).toBe(50);
    expect(machine.transmit().sent).toEqual([]);
  });

  it('is none when the peer wants nothing, until it wants something', () => {
    const machine = new Machine().up().hear({ state: 'Up', requiredMinRx: 0 });
    expect(machine.untilTransmit).toBeUndefined();
    expect(machine.wait(10_000).transmit().sent).toEqual([]);
    machine.hear({ state: 'Up', requiredMinRx: 50_000 });
    expect(machine.transmit().sent).toHaveLength(1);
  });

  it('does not keep a change of state from a peer that wants no periodic packets', () => {
    const machine = new Machine().up().hear({ state: 'Up', requiredMinRx: 0 });
    expect(machine.handle({ type: 'admin-down' }).sent).toMatchObject([{ state: 'AdminDown' }]);
  });
});

describe('a Poll Sequence', () => {
  it('ends with the Final, after which packets carry no Poll', () => {
    const machine = new Machine().transmit().hear({ yourDiscriminator: 0 }).hear({ state: 'Init' });
    expect(machine.wait(50).transmit().sent).toMatchObject([{ poll: true }]);
    machine.hear({ state: 'Up', final: true });
    expect(machine.wait(50).transmit().sent).toMatchObject([{ poll: false }]);
  });

  it('is not ended by a Final that came before its first Poll', () => {
    const machine = new Machine().up();
    machine.handle({ type: 'settings', settings: { ...fast, desiredMinTx: 300_000 } });
    expect(machine.hear({ state: 'Up', final: true }).session.poll).toBe('wanted');
  });

  it('goes with the scheduled packet, not with an additional one', () => {
    const machine = new Machine().up();
    machine.handle({ type: 'settings', settings: { ...fast, requiredMinRx: 300_000 } });
    expect(machine.sent).toEqual([]);
    expect(machine.wait(50).transmit().sent).toMatchObject([{ poll: true, requiredMinRx: 300_000 }]);
  });

  it('of the peer is answered at once in every state but AdminDown, never with both bits', () => {
    const machine = new Machine().up();
    expect(machine.hear({ state: 'Up', poll: true }).sent).toMatchObject([{ poll: false, final: true }]);
    const polling = new Machine().transmit().hear({ yourDiscriminator: 0, poll: true });
    expect(polling.sent.map(({ poll, final, state }) => ({ poll, final, state }))).toEqual([
      { poll: false, final: false, state: 'Init' },
      { poll: false, final: true, state: 'Init' },
    ]);
  });

  it('of the peer does not put off our own packets', () => {
    const machine = new Machine().up().wait(40).hear({ state: 'Up', poll: true });
    expect(machine.untilTransmit).toBe(10);
  });

  it('has a slower transmit interval wait for the Final', () => {
    const machine = new Machine().up();
    machine.handle({ type: 'settings', settings: { ...fast, desiredMinTx: 300_000 } });
    machine.wait(50).transmit();
    expect(machine.sent).toMatchObject([{ desiredMinTx: 300_000, poll: true }]);
    expect(machine.untilTransmit).toBe(50);
    machine.hear({ state: 'Up', final: true });
    expect(machine.untilTransmit).toBe(300);
  });

  it('has a faster transmit interval not wait', () => {
    const machine = new Machine({ ...fast, desiredMinTx: 300_000 }).up();
    machine.handle({ type: 'settings', settings: fast });
    expect(machine.untilTransmit).toBe(50);
  });

  it('has a shorter Detection Time wait for the Final, and a longer one not', () => {
    const slow = { ...fast, requiredMinRx: 300_000 };
    const machine = new Machine(slow).up();
    machine.handle({ type: 'settings', settings: fast }).wait(50).transmit().hear({ state: 'Up' });
    expect(machine.untilDetection).toBe(900);
    machine.hear({ state: 'Up', final: true });
    expect(machine.untilDetection).toBe(150);
    machine.hear({ state: 'Up' }).handle({ type: 'settings', settings: slow });
    expect(machine.untilDetection).toBe(900);
  });

  it('is over before the next one begins: a packet without Final lies between', () => {
    const machine = new Machine().up();
    machine
      .handle({ type: 'settings', settings: { ...fast, desiredMinTx: 100_000 } })
      .wait(50)
      .transmit();
    machine
      .handle({ type: 'settings', settings: { ...fast, desiredMinTx: 200_000 } })
      .wait(50)
      .transmit();
    expect(machine.sent).toMatchObject([{ desiredMinTx: 100_000, poll: true }]);
    machine.hear({ state: 'Up', final: true });
    expect(machine.session.tx).toEqual({ advertised: 100_000, used: 100_000 });
    machine.hear({ state: 'Up', final: true }).wait(100).transmit();
    expect(machine.sent).toMatchObject([{ desiredMinTx: 100_000, poll: false }]);
    machine.hear({ state: 'Up' }).wait(100).transmit();
    expect(machine.sent).toMatchObject([{ desiredMinTx: 200_000, poll: true }]);
  });

  it('takes changes before its first packet together', () => {
    const machine = new Machine().up();
    machine.handle({ type: 'settings', settings: { ...fast, desiredMinTx: 100_000 } });
    machine.handle({
      type: 'settings',
      settings: { desiredMinTx: 100_000, requiredMinRx: 70_000, detectMult: 5 },
    });
    expect(machine.wait(50).transmit().sent).toMatchObject([
      { desiredMinTx: 100_000, requiredMinRx: 70_000, detectMult: 5, poll: true },
    ]);
  });

  it('is not needed for the multiplier', () => {
    const machine = new Machine().up().handle({ type: 'settings', settings: { ...fast, detectMult: 9 } });
    expect(machine.session.poll).toBe('none');
    expect(machine.wait(50).transmit().sent).toMatchObject([{ detectMult: 9, poll: false }]);
  });
});

describe('a peer in Demand mode', () => {
  const demanding = (): Machine => new Machine().up().hear({ state: 'Up', demand: true });

  it('gets no periodic packets, and none that ask the same of it', () => {
    const machine = demanding();
    expect(machine.untilTransmit).toBeUndefined();
    expect(machine.hear({ state: 'Up', demand: true, poll: true }).sent).toMatchObject([
      { final: true, demand: false },
    ]);
  });

  it('is still watched: it must go on sending, since we never ask for Demand mode', () => {
    const machine = demanding().wait(150).detect();
    expect(machine.changes).toEqual(['Up -> Down: detection-expired']);
    expect(machine.untilTransmit).toBe(1000);
  });

  it('learns of a change by a Poll Sequence', () => {
    const machine = demanding().handle({ type: 'settings', settings: { ...fast, detectMult: 7 } });
    machine.wait(50);
    expect(machine.transmit().sent).toMatchObject([{ detectMult: 7, poll: true }]);
    machine.hear({ state: 'Up', demand: true, final: true });
    expect(machine.untilTransmit).toBeUndefined();
  });

  it('is in it only while both are Up', () => {
    expect(new Machine().transmit().hear({ yourDiscriminator: 0, demand: true }).untilTransmit).toBe(1000);
  });
});
