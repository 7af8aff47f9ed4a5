import { type PeerAction, PeerFsm, type PeerInput, type Role } from '@bgp-lb/protocol';
import { negotiatedRestart, negotiatedWith, ourOpen, sampleEvents } from '@bgp-lb/protocol/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const events = Object.values(sampleEvents);
const connectionEvent = fc
  .oneof(
    fc.constantFrom(...events),
    // The way up, so that runs reach the later states.
    fc.constantFrom(sampleEvents.Tcp_CR_Acked, sampleEvents.BGPOpen, sampleEvents.KeepAliveMsg),
    fc.constantFrom(
      { type: 'BGPOpen', negotiated: negotiatedRestart } as const,
      { type: 'BGPOpen', negotiated: negotiatedWith({ holdTime: 0 }) } as const,
    ),
  )
  .chain((event) =>
    fc
      .constantFrom<Role>('active', 'passive', 'successor')
      .map((role): PeerInput => ({ type: 'connection', role, event })),
  );

const notification = { code: 6, subcode: 2, data: new Uint8Array(0) };
const input: fc.Arbitrary<PeerInput> = fc.oneof(
  { weight: 8, arbitrary: connectionEvent },
  {
    weight: 4,
    arbitrary: fc.constantFrom<PeerInput>(
      { type: 'start' },
      { type: 'incoming' },
      { type: 'incoming' },
      { type: 'idleHoldExpired' },
      { type: 'stop', notification },
      { type: 'stop', notification: undefined },
      { type: 'reset', notification },
    ),
  },
);

/** Keeps the books of what a driver would have after each list of actions. */
class Books {
  readonly timers = {
    active: new Set<string>(),
    passive: new Set<string>(),
    successor: new Set<string>(),
  };
  isUp = false;
  isHeld = false;

  take(actions: readonly PeerAction[]): void {
    for (const [index, action] of actions.entries()) {
      if (action.type === 'startIdleHold') this.isHeld = true;
      if (action.type === 'stopIdleHold') this.isHeld = false;
      if (action.type === 'connection') this.#connection(action.role, action.action, actions[index + 1]);
    }
  }

  #connection(
    role: Role,
    action: Extract<PeerAction, { type: 'connection' }>['action'],
    next?: PeerAction,
  ): void {
    switch (action.type) {
      case 'startTimer':
        this.timers[role].add(action.timer);
        return;
      case 'stopTimer':
        this.timers[role].delete(action.timer);
        return;
      case 'notify':
        expect(next, 'notify is followed by close').toMatchObject({ role, action: { type: 'close' } });
        return;
      case 'established':
        expect(this.isUp, 'established twice').toBe(false);
        this.isUp = true;
        return;
      case 'down':
        expect(this.isUp, 'down without established').toBe(true);
        this.isUp = false;
        return;
      case 'deliver':
        expect(this.isUp, 'delivered without a session').toBe(true);
        return;
      default:
        return;
    }
  }
}

describe('the FSM of a peer, whatever happens to it', () => {
  it('never throws, never forgets a timer, alternates established and down, and closes after each NOTIFICATION', () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.constantFrom(undefined, 5),
        fc.array(input, { maxLength: 60 }),
        (passive, delayOpenTime, inputs) => {
          const fsm = new PeerFsm(ourOpen(), {
            passive,
            connectRetryTime: 120,
            delayOpenTime,
            sendHoldTime: 480,
          });
          const books = new Books();
          let now = 0;
          for (const each of inputs) {
            now += 1000;
            if (each.type === 'idleHoldExpired') books.isHeld = false;
            books.take(fsm.handle(each, now));
            expect(books.isUp).toBe(fsm.state === 'Established');
            expect(books.isHeld).toBe(fsm.isHeld);
            if (fsm.state === 'Idle') {
              expect(
                Object.values(books.timers)
                  .flatMap((names) => [...names])
                  .filter((name) => name !== 'ConnectRetry'),
              ).toEqual([]);
            }
            // A started peer is never forgotten in Idle: something will bring it back.
            if (fsm.isStarted && fsm.state === 'Idle') expect(fsm.isHeld).toBe(true);
            if (passive) expect(books.timers.active.has('ConnectRetry')).toBe(false);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});
