/** A session on a clock that a test moves, fed with packets of a peer that the test plays. */
import type { BfdControlPacket } from '../control-packet.ts';
import type { BfdAction, BfdEvent } from '../event.ts';
import { type BfdSession, type BfdSettings, bfdDetectAt, bfdSession, bfdTransmitAt } from '../session.ts';
import { bfdStep } from '../step.ts';

/** 50 ms x 3. */
export const fast: BfdSettings = { desiredMinTx: 50_000, requiredMinRx: 50_000, detectMult: 3 };

/** What the peer of the tests says in Down, at 50 ms x 3. */
export const peerPacket: BfdControlPacket = {
  diagnostic: 0,
  state: 'Down',
  poll: false,
  final: false,
  controlPlaneIndependent: false,
  authenticationPresent: false,
  demand: false,
  detectMult: 3,
  myDiscriminator: 77,
  yourDiscriminator: 0,
  desiredMinTx: 50_000,
  requiredMinRx: 50_000,
  requiredMinEchoRx: 0,
};

export type Sent = Extract<BfdAction, { type: 'send' }>['packet'];

/** Keeps a session, its clock and the actions of the last event. */
export class Machine {
  session: BfdSession;
  now = 1000;
  /** The jitter of what is sent: 0 takes nothing off the interval. */
  random = 0;
  actions: readonly BfdAction[] = [];

  constructor(settings: BfdSettings = fast, discriminator = 11) {
    this.session = bfdSession(settings, discriminator, this.now);
  }

  handle(event: BfdEvent): this {
    const step = bfdStep(this.session, event, this.now, this.random);
    this.session = step.session;
    this.actions = step.actions;
    return this;
  }

  /** The peer says something that differs from `peerPacket` in these fields. */
  hear(fields: Partial<BfdControlPacket>): this {
    return this.handle({ type: 'packet', packet: { ...peerPacket, yourDiscriminator: 11, ...fields } });
  }

  wait(ms: number): this {
    this.now += ms;
    return this;
  }

  transmit(): this {
    return this.handle({ type: 'transmit-due' });
  }

  detect(): this {
    return this.handle({ type: 'detection-due' });
  }

  /** Through the handshake, its polls and the polls' answers, to a quiet Up. */
  up(fields: Partial<BfdControlPacket> = {}): this {
    this.transmit()
      .hear({ state: 'Down', yourDiscriminator: 0 })
      .hear({ ...fields, state: 'Init' });
    this.hear({ ...fields, state: 'Up', final: true }).hear({ ...fields, state: 'Up' });
    this.actions = [];
    return this;
  }

  /** What the last event sent. */
  get sent(): readonly Sent[] {
    return this.actions.flatMap((action) => (action.type === 'send' ? [action.packet] : []));
  }

  /** The state changes of the last event, as `Down -> Up: reason`. */
  get changes(): readonly string[] {
    return this.actions.flatMap((action) =>
      action.type === 'state-changed' ? [`${action.from} -> ${action.to}: ${action.reason}`] : [],
    );
  }

  /** ms until the next periodic packet. */
  get untilTransmit(): number | undefined {
    const at = bfdTransmitAt(this.session);
    return at === undefined ? undefined : at - this.now;
  }

  /** ms until the peer counts as silent. */
  get untilDetection(): number | undefined {
    const at = bfdDetectAt(this.session);
    return at === undefined ? undefined : at - this.now;
  }
}
