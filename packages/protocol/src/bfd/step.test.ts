import { describe, expect, it } from 'vitest';
import type { BfdState } from './control-packet.ts';
import type { BfdReason } from './event.ts';
import { fast, Machine, peerPacket } from './kit/machine.ts';
import { bfdSession } from './session.ts';
import { isBfdFailure } from './step.ts';

/** A machine in a state, reached by packets. */
function machineIn(state: BfdState): Machine {
  const machine = new Machine();
  if (state === 'AdminDown') return machine.handle({ type: 'admin-down' });
  if (state === 'Init') return machine.hear({ state: 'Down', yourDiscriminator: 0 });
  return state === 'Up' ? machine.up() : machine;
}

describe('the state machine of a BFD session', () => {
  const table: readonly {
    from: BfdState;
    heard: BfdState;
    to: BfdState;
    reason?: BfdReason;
    diagnostic?: number;
  }[] = [
    { from: 'Down', heard: 'AdminDown', to: 'Down' },
    { from: 'Down', heard: 'Down', to: 'Init', reason: 'peer-heard', diagnostic: 0 },
    { from: 'Down', heard: 'Init', to: 'Up', reason: 'peer-agrees', diagnostic: 0 },
    { from: 'Down', heard: 'Up', to: 'Down' },
    { from: 'Init', heard: 'AdminDown', to: 'Down', reason: 'peer-admin-down', diagnostic: 3 },
    { from: 'Init', heard: 'Down', to: 'Init' },
    { from: 'Init', heard: 'Init', to: 'Up', reason: 'peer-agrees', diagnostic: 0 },
    { from: 'Init', heard: 'Up', to: 'Up', reason: 'peer-agrees', diagnostic: 0 },
    { from: 'Up', heard: 'AdminDown', to: 'Down', reason: 'peer-admin-down', diagnostic: 3 },
    { from: 'Up', heard: 'Down', to: 'Down', reason: 'peer-down', diagnostic: 3 },
    { from: 'Up', heard: 'Init', to: 'Up' },
    { from: 'Up', heard: 'Up', to: 'Up' },
    { from: 'AdminDown', heard: 'AdminDown', to: 'AdminDown' },
    { from: 'AdminDown', heard: 'Down', to: 'AdminDown' },
    { from: 'AdminDown', heard: 'Init', to: 'AdminDown' },
    { from: 'AdminDown', heard: 'Up', to: 'AdminDown' },
  ];

  it.each(table)('in $from hears $heard and is in $to', ({ from, heard, to, reason, diagnostic }) => {
    const machine = machineIn(from).hear({ state: heard });
    expect(machine.session.state).toBe(to);
    expect(machine.changes).toEqual(reason === undefined ? [] : [`${from} -> ${to}: ${reason}`]);
    if (diagnostic !== undefined) expect(machine.session.diagnostic).toBe(diagnostic);
  });

  it.each(table.filter(({ reason }) => reason !== undefined))(
    'tells the peer at once that it went from $from to $to',
    ({ from, heard, to }) => {
      const machine = machineIn(from).hear({ state: heard });
      expect(machine.sent).toMatchObject([{ state: to, yourDiscriminator: 77, myDiscriminator: 11 }]);
    },
  );

  it('begins with a packet that knows no peer', () => {
    const machine = new Machine();
    expect(machine.untilTransmit).toBe(0);
    machine.transmit();
    expect(machine.sent).toEqual([
      {
        ...peerPacket,
        myDiscriminator: 11,
        yourDiscriminator: 0,
        desiredMinTx: 1_000_000,
        requiredMinRx: 50_000,
      },
    ]);
  });

  it('goes Down with a peer that began anew, and answers to its new discriminator', () => {
    const machine = machineIn('Up').hear({ state: 'Down', myDiscriminator: 78, yourDiscriminator: 0 });
    expect(machine.sent).toMatchObject([{ state: 'Down', yourDiscriminator: 78, diagnostic: 3 }]);
  });
});

describe('an administrative change', () => {
  it.each(['Down', 'Init', 'Up'] as const)(
    'takes a session in %s to AdminDown with diagnostic 7',
    (state) => {
      const machine = machineIn(state).handle({ type: 'admin-down' });
      expect(machine.changes).toEqual([`${state} -> AdminDown: admin-down`]);
      expect(machine.sent).toMatchObject([{ state: 'AdminDown', diagnostic: 7 }]);
    },
  );

  it('is told in slow packets for as long as it lasts', () => {
    const machine = machineIn('Up').handle({ type: 'admin-down' });
    expect(machine.untilTransmit).toBe(1000);
    machine.wait(1000).transmit();
    expect(machine.sent).toMatchObject([{ state: 'AdminDown', desiredMinTx: 1_000_000 }]);
  });

  it('is known to be heard by the Final of the peer', () => {
    const machine = machineIn('Up').handle({ type: 'admin-down' });
    expect(machine.sent).toMatchObject([{ poll: true }]);
    machine.hear({ state: 'Down', diagnostic: 3, final: true });
    expect(machine.session).toMatchObject({ state: 'AdminDown', poll: 'settling' });
  });

  it('does not answer a Poll, since RFC 5880 section 6.8.6 discards the packet before', () => {
    expect(machineIn('AdminDown').hear({ poll: true }).sent).toEqual([]);
  });

  it('ends in Down, from where the handshake begins anew', () => {
    const machine = machineIn('AdminDown').handle({ type: 'admin-up' });
    expect(machine.changes).toEqual(['AdminDown -> Down: admin-up']);
    expect(machine.sent).toMatchObject([{ state: 'Down', diagnostic: 0 }]);
    expect(machine.hear({ state: 'Down' }).session.state).toBe('Init');
  });

  it('is nothing when it is there already', () => {
    expect(machineIn('AdminDown').handle({ type: 'admin-down' }).actions).toEqual([]);
    expect(machineIn('Up').handle({ type: 'admin-up' }).actions).toEqual([]);
  });
});

describe('a change of state', () => {
  it.each<[BfdState, BfdReason, boolean]>([
    ['Up', 'detection-expired', true],
    ['Up', 'peer-down', true],
    ['Up', 'peer-admin-down', false],
    ['Up', 'admin-down', false],
    ['Init', 'detection-expired', false],
    ['Init', 'peer-admin-down', false],
  ])('from %s by %s tells of a failure: %s', (from, reason, expected) => {
    expect(isBfdFailure(from, reason)).toBe(expected);
  });
});

describe('a session that cannot be', () => {
  it.each([
    [{ ...fast, desiredMinTx: 0 }, 'Desired Min TX'],
    [{ ...fast, requiredMinRx: 0 }, 'Required Min RX'],
    [{ ...fast, requiredMinRx: 2 ** 32 }, 'Required Min RX'],
    [{ ...fast, detectMult: 256 }, 'Detect Mult'],
    [{ ...fast, detectMult: 1.5 }, 'Detect Mult'],
  ])('is refused by name: %j', (settings, name) => {
    expect(() => bfdSession(settings, 1, 0)).toThrow(name);
  });

  it('has no discriminator 0', () => {
    expect(() => bfdSession(fast, 0, 0)).toThrow('discriminator: 0; allowed are whole numbers from 1');
  });
});
