import {
  type BfdControlPacket,
  type BfdEvent,
  type BfdSession,
  type BfdSettings,
  bfdDetectAt,
  bfdDetectionTime,
  bfdSession,
  bfdStep,
  bfdTransmitAt,
} from '@bgp-lb/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

/** Random numbers in [0, 1) that a failing run repeats (a linear congruential generator). */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Link {
  /** ms; a packet never overtakes another. */
  maxDelay: number;
  /** The share of packets that are lost, per sender. */
  loss: [number, number];
}

interface Flight {
  readonly to: number;
  readonly at: number;
  readonly packet: BfdControlPacket;
}

/** Two sessions, the packets between them, and a clock. */
class Pair {
  now = 0;
  readonly sessions: [BfdSession, BfdSession];
  /** When each last left Up. */
  readonly leftUpAt: [number | undefined, number | undefined] = [undefined, undefined];
  readonly #link: Link;
  readonly #random: () => number;
  #flights: Flight[] = [];

  constructor(settings: readonly [BfdSettings, BfdSettings], link: Link, seed: number) {
    this.#link = link;
    this.#random = generator(seed);
    this.sessions = [bfdSession(settings[0], 1, 0), bfdSession(settings[1], 2, 0)];
  }

  get areUp(): boolean {
    return this.sessions.every(({ state }) => state === 'Up');
  }

  runUntil(end: number, stop: () => boolean = () => false): void {
    for (let next = this.#nextAt(); next <= end && !stop(); next = this.#nextAt()) {
      this.now = Math.max(this.now, next);
      const due = this.#flights.filter(({ at }) => at <= this.now);
      this.#flights = this.#flights.filter(({ at }) => at > this.now);
      for (const { to, packet } of due) this.handle(to, { type: 'packet', packet });
      for (const side of [0, 1]) {
        this.handle(side, { type: 'transmit-due' });
        this.handle(side, { type: 'detection-due' });
      }
    }
    if (!stop()) this.now = end;
  }

  handle(side: number, event: BfdEvent): void {
    const session = this.sessions[side === 0 ? 0 : 1];
    const step = bfdStep(session, event, this.now, this.#random());
    this.sessions[side === 0 ? 0 : 1] = step.session;
    for (const action of step.actions) {
      if (action.type === 'send') this.#send(side, action.packet);
      if (action.type === 'state-changed' && action.from === 'Up') {
        this.leftUpAt[side === 0 ? 0 : 1] = this.now;
      }
    }
  }

  #send(side: number, packet: BfdControlPacket): void {
    if (this.#random() < this.#link.loss[side === 0 ? 0 : 1]) return;
    const to = 1 - side;
    const last = Math.max(0, ...this.#flights.filter((flight) => flight.to === to).map(({ at }) => at));
    this.#flights.push({ to, packet, at: Math.max(last, this.now + this.#random() * this.#link.maxDelay) });
  }

  #nextAt(): number {
    const deadlines = this.sessions.flatMap((session) => [bfdTransmitAt(session), bfdDetectAt(session)]);
    const known = deadlines.filter((at) => at !== undefined);
    return Math.min(...known, ...this.#flights.map(({ at }) => at));
  }
}

const settings: fc.Arbitrary<BfdSettings> = fc.record({
  desiredMinTx: fc.constantFrom(20_000, 50_000, 300_000, 1_500_000),
  requiredMinRx: fc.constantFrom(20_000, 50_000, 300_000, 1_500_000),
  detectMult: fc.integer({ min: 2, max: 5 }),
});
const seed = fc.nat(0xffff_ffff);
const detectionTimes = ({ sessions }: Pair): [number, number] => [
  bfdDetectionTime(sessions[0]) ?? 0,
  bfdDetectionTime(sessions[1]) ?? 0,
];

describe('two BFD sessions on one link', () => {
  it('come Up on a good link, stay Up, and use the intervals that both asked for', () => {
    fc.assert(
      fc.property(settings, settings, seed, (left, right, number) => {
        const pair = new Pair([left, right], { maxDelay: 5, loss: [0, 0] }, number);
        pair.runUntil(10_000, () => pair.areUp);
        expect(pair.areUp).toBe(true);
        pair.runUntil(pair.now + 10_000);
        expect(pair.areUp).toBe(true);
        expect(pair.leftUpAt).toEqual([undefined, undefined]);
        expect(pair.sessions.map(({ poll }) => poll)).toEqual(['none', 'none']);
        expect(pair.sessions[0].tx.used).toBe(left.desiredMinTx);
        expect(detectionTimes(pair)).toEqual([
          (right.detectMult * Math.max(left.requiredMinRx, right.desiredMinTx)) / 1000,
          (left.detectMult * Math.max(right.requiredMinRx, left.desiredMinTx)) / 1000,
        ]);
      }),
      { numRuns: 60 },
    );
  });

  it('stay Up through any change of their settings', () => {
    const change = fc.tuple(fc.nat(1), settings, fc.nat(2000));
    fc.assert(
      fc.property(settings, fc.array(change, { maxLength: 12 }), seed, (first, changes, number) => {
        const pair = new Pair([first, first], { maxDelay: 5, loss: [0, 0] }, number);
        pair.runUntil(10_000, () => pair.areUp);
        for (const [side, next, pause] of changes) {
          pair.handle(side, { type: 'settings', settings: next });
          pair.runUntil(pair.now + pause);
        }
        pair.runUntil(pair.now + 10_000);
        expect(pair.leftUpAt).toEqual([undefined, undefined]);
        for (const [side, session] of pair.sessions.entries()) {
          const last = changes.findLast(([of]) => of === side)?.[1] ?? first;
          expect(session.tx).toEqual({ advertised: last.desiredMinTx, used: last.desiredMinTx });
          expect(session.rx).toEqual({ advertised: last.requiredMinRx, used: last.requiredMinRx });
        }
      }),
      { numRuns: 60 },
    );
  });

  it('come Up when a link that lost anything becomes good', () => {
    fc.assert(
      fc.property(
        settings,
        settings,
        fc.double({ min: 0, max: 1, noNaN: true }),
        seed,
        (left, right, loss, number) => {
          const link: Link = { maxDelay: 5, loss: [loss, 1 - loss] };
          const pair = new Pair([left, right], link, number);
          pair.runUntil(20_000);
          link.loss = [0, 0];
          pair.runUntil(45_000);
          expect(pair.areUp).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('both go Down within their Detection Time when the link is cut', () => {
    fc.assert(
      fc.property(settings, settings, fc.nat(2000), seed, (left, right, moment, number) => {
        const link: Link = { maxDelay: 5, loss: [0, 0] };
        const pair = new Pair([left, right], link, number);
        pair.runUntil(10_000, () => pair.areUp);
        pair.runUntil(pair.now + moment);
        link.loss = [1, 1];
        const cut = pair.now;
        // What is on its way arrives, and may still change the Detection Time.
        pair.runUntil(cut + link.maxDelay);
        const times = detectionTimes(pair);
        pair.runUntil(cut + 60_000);
        for (const side of [0, 1] as const) {
          expect(pair.sessions[side].state).toBe('Down');
          expect((pair.leftUpAt[side] ?? Infinity) - cut).toBeLessThanOrEqual(times[side] + link.maxDelay);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('both go Down within one Detection Time when one direction is cut', () => {
    fc.assert(
      fc.property(settings, settings, seed, (left, right, number) => {
        const link: Link = { maxDelay: 5, loss: [0, 0] };
        const pair = new Pair([left, right], link, number);
        pair.runUntil(20_000);
        const [, deaf] = detectionTimes(pair);
        link.loss = [1, 0];
        const cut = pair.now;
        pair.runUntil(cut + 60_000);
        expect((pair.leftUpAt[1] ?? Infinity) - cut).toBeLessThanOrEqual(deaf + link.maxDelay);
        expect((pair.leftUpAt[0] ?? Infinity) - cut).toBeLessThanOrEqual(deaf + 2 * link.maxDelay);
        expect(pair.areUp).toBe(false);
      }),
      { numRuns: 60 },
    );
  });
});
