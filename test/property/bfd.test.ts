import {
  type BfdControlPacket,
  type BfdEvent,
  type BfdSession,
  type BfdStep,
  bfdDiscardReasons,
  bfdSession,
  bfdStep,
  decodeBfdControlPacket,
  encodeBfdControlPacket,
} from '@bgp-lb/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const u32 = fc.oneof(fc.nat(0xffff_ffff), fc.constantFrom(0, 1, 50_000, 1_000_000, 0xffff_ffff));
const packet: fc.Arbitrary<BfdControlPacket> = fc.record({
  diagnostic: fc.nat(31),
  state: fc.constantFrom('AdminDown', 'Down', 'Init', 'Up'),
  poll: fc.boolean(),
  final: fc.boolean(),
  controlPlaneIndependent: fc.boolean(),
  authenticationPresent: fc.constant(false),
  demand: fc.boolean(),
  detectMult: fc.integer({ min: 1, max: 255 }),
  myDiscriminator: u32.filter((value) => value !== 0),
  yourDiscriminator: u32.filter((value) => value !== 0),
  desiredMinTx: u32,
  requiredMinRx: u32,
  requiredMinEchoRx: u32,
});

const interval = fc.oneof(fc.integer({ min: 1, max: 0xffff_ffff }), fc.constantFrom(10_000, 50_000, 300_000));
const settings = fc.record({
  desiredMinTx: interval,
  requiredMinRx: interval,
  detectMult: fc.integer({ min: 1, max: 255 }),
});

const event: fc.Arbitrary<BfdEvent> = fc.oneof(
  {
    weight: 6,
    arbitrary: packet
      .chain((each) => fc.boolean().map((authenticationPresent) => ({ ...each, authenticationPresent })))
      .map((each): BfdEvent => ({ type: 'packet', packet: each })),
  },
  fc.constantFrom<BfdEvent>({ type: 'transmit-due' }, { type: 'detection-due' }),
  fc.constantFrom<BfdEvent>({ type: 'admin-down' }, { type: 'admin-up' }),
  settings.map((each): BfdEvent => ({ type: 'settings', settings: each })),
);

describe('a BFD Control packet', () => {
  it('is read back as it was written', () => {
    fc.assert(
      fc.property(packet, (each) => {
        expect(decodeBfdControlPacket(encodeBfdControlPacket(each))).toEqual(each);
      }),
    );
  });

  it('of any octets is a packet or a reason to discard it', () => {
    const nearlyValid = fc
      .tuple(packet, fc.array(fc.tuple(fc.nat(23), fc.nat(255)), { maxLength: 4 }), fc.nat(30))
      .map(([each, changes, length]) => {
        const octets = new Uint8Array(length);
        octets.set(encodeBfdControlPacket(each).subarray(0, length));
        for (const [at, octet] of changes) if (at < octets.length) octets[at] = octet;
        return octets;
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 64 }), nearlyValid), (octets) => {
        const decoded = decodeBfdControlPacket(octets);
        if (typeof decoded === 'string') {
          expect(bfdDiscardReasons).toContain(decoded);
          return;
        }
        expect(decoded.detectMult).toBeGreaterThan(0);
        expect(decoded.myDiscriminator).toBeGreaterThan(0);
      }),
      { numRuns: 2000 },
    );
  });
});

/** Checks what one step did: the state it came from, and what may be sent. */
function expectSound(
  before: BfdSession,
  { session, actions, transmitAt }: BfdStep,
  each: BfdEvent,
  now: number,
): void {
  let state = before.state;
  for (const action of actions) {
    if (action.type === 'send') expectSendable(action.packet);
    if (action.type !== 'state-changed') continue;
    expect(action.from).toBe(state);
    expect(action.to).not.toBe(state);
    state = action.to;
  }
  expect(session.state).toBe(state);
  // One periodic packet and one Final at most: nothing that arrives is answered by much more than it is.
  const isPoll = each.type === 'packet' && each.packet.poll;
  expect(actions.filter(({ type }) => type === 'send').length).toBeLessThanOrEqual(isPoll ? 2 : 1);
  if (session.sent !== before.sent && transmitAt !== undefined) expect(transmitAt).toBeGreaterThan(now);
}

function expectSendable(sent: BfdControlPacket): void {
  expect(sent.poll && sent.final).toBe(false);
  expect(sent.demand).toBe(false);
  expect(encodeBfdControlPacket(sent)).toHaveLength(24);
  // RFC 5880 section 6.8.3.
  if (sent.state !== 'Up') expect(sent.desiredMinTx).toBeGreaterThanOrEqual(1_000_000);
}

describe('a BFD session, whatever happens to it', () => {
  it('never throws, sends only what can be sent, chains its states and never sends in bursts', () => {
    const run = fc.array(fc.tuple(event, fc.double({ min: 0, max: 5000, noNaN: true })), { maxLength: 80 });
    fc.assert(
      fc.property(settings, run, fc.double({ min: 0, max: 0.999, noNaN: true }), (first, events, random) => {
        let session = bfdSession(first, 5, 0);
        let now = 0;
        for (const [each, pause] of events) {
          now += pause;
          const step = bfdStep(session, each, now, random);
          expectSound(session, step, each, now);
          session = step.session;
        }
      }),
      { numRuns: 1500 },
    );
  });
});
