import { createHash, randomInt } from 'node:crypto';
import {
  admitBfdPacket,
  agreeOnKey,
  type BfdAction,
  type BfdAuthentication,
  type BfdControlPacket,
  type BfdEvent,
  type BfdKey,
  type BfdSession,
  type BfdSettings,
  type BfdState,
  bfdAuthentication,
  bfdDetectAt,
  bfdDetectionTime,
  bfdSession,
  bfdStep,
  bfdTransmitAt,
  bfdTransmitInterval,
  checkBfdSettings,
  encodeBfdControlPacket,
  forgetEndedKey,
  isBfdFailure,
  isBfdPacketSigned,
  signBfdPacket,
} from '../index.ts';
import type { BfdSender, BfdSockets } from './bfd-sockets.ts';
import type {
  BfdAuthenticationStatus,
  BfdSessionOptions,
  BfdSessionStatus,
  BfdStateChange,
  BfdTiming,
} from './bfd-status.ts';
import type { Clock } from './clock.ts';

/** What a session needs of its surroundings. */
export interface BfdSessionContext {
  readonly sockets: BfdSockets;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly changed: (change: BfdStateChange) => void;
  /** Whether all other peers are silent too: `BfdStateChange.areOthersSilent`. */
  readonly areOthersSilent: (now: number) => boolean;
  /** The deadline of a session, `wakeAt`, may have come closer. */
  readonly expectAt: (at: number) => void;
  /** Calls back when the packets that waited in the sockets have been read. */
  readonly afterReading: (proceed: () => void) => void;
}

/** BFD ports: RFC 5881 section 4, RFC 5883. */
export const bfdPort = { singleHop: 3784, multihop: 4784 } as const;

/** The intervals in microseconds, as packets carry them. */
function settingsOf({ transmitInterval, receiveInterval, detectMultiplier }: BfdTiming): BfdSettings {
  return {
    desiredMinTx: Math.round(transmitInterval * 1000),
    requiredMinRx: Math.round(receiveInterval * 1000),
    detectMult: detectMultiplier,
  };
}

const sha1 = (octets: Uint8Array): Uint8Array => createHash('sha1').update(octets).digest();

/** Runs one session: its deadlines, its sending socket and its counters. */
export class BfdSessionDriver {
  readonly options: BfdSessionOptions;
  readonly discriminator: number;
  readonly #context: BfdSessionContext;
  #session: BfdSession;
  #authentication: BfdAuthentication;
  /** bfd.XmitAuthSeq. */
  readonly #sequence: Uint32Array;
  #sender: BfdSender | undefined;
  #isCheckingSilence = false;
  #isClosed = false;
  #timerDelay = 0;
  #sendError: string | undefined;
  readonly #counters = { sent: 0, received: 0, sendErrors: 0, discarded: 0, failures: 0, averted: 0 };

  /** @throws RangeError for intervals that cannot be */
  constructor(options: BfdSessionOptions, discriminator: number, context: BfdSessionContext) {
    this.options = options;
    this.discriminator = discriminator;
    this.#context = context;
    this.#authentication = bfdAuthentication(options.authentication ?? { mode: 'none' });
    this.#sequence = options.sequence ?? Uint32Array.of(randomInt(0x1_0000_0000));
    this.#session = bfdSession(settingsOf(options), discriminator, context.clock.now());
  }

  get state(): BfdState {
    return this.#session.state;
  }

  /** Whether the peer is still to confirm what the last packets told it. */
  get isPolling(): boolean {
    return this.#session.poll === 'wanted' || this.#session.poll === 'sent';
  }

  /** In ms: after so long without our packets the peer gives up, if it goes by what we last told it in this state. */
  get remoteDetectionTime(): number {
    return this.#session.settings.detectMult * bfdTransmitInterval(this.#session);
  }

  /** Sends the first packet. */
  start(): void {
    this.#handle({ type: 'transmit-due' });
  }

  /** When `wake` has something to do, in monotonic ms: a packet is due, or the peer has been silent for too long. */
  get wakeAt(): number {
    const detectAt = this.#isCheckingSilence ? undefined : bfdDetectAt(this.#session);
    return Math.min(bfdTransmitAt(this.#session) ?? Infinity, detectAt ?? Infinity);
  }

  /** `wakeAt` may have come. */
  wake(now: number): void {
    const detectAt = bfdDetectAt(this.#session);
    if (detectAt !== undefined && now >= detectAt && !this.#isCheckingSilence)
      this.#checkSilence(now - detectAt);
    // Ours first: the peer has a timer too.
    this.#handle({ type: 'transmit-due' });
  }

  /** Packets of other sessions leave now. */
  sendAlong(): void {
    this.#handle({ type: 'transmit-shared' });
  }

  /**
   * Whether the peer was heard in the last half of its Detection Time, which holds a packet of every peer that lives;
   * `undefined` while its session is not Up.
   */
  isHeard(now: number): boolean | undefined {
    if (this.#session.state !== 'Up') return undefined;
    const { receivedAt = Number.NEGATIVE_INFINITY } = this.#session;
    return now - receivedAt < (bfdDetectionTime(this.#session) ?? 0) / 2;
  }

  /** Packets that left, and those that could not. */
  get attempts(): number {
    return this.#counters.sent + this.#counters.sendErrors;
  }

  /** @param payload the packet as it arrived. @returns false when its authentication is refused */
  receive(packet: BfdControlPacket, payload: Uint8Array): boolean {
    this.#counters.received += 1;
    const detectionTime = (packet.detectMult * Math.max(this.#session.rx.used, packet.desiredMinTx)) / 1000;
    const now = this.#context.clock.now();
    const admitted = admitBfdPacket(this.#authentication, payload, packet, detectionTime, now, sha1);
    if (admitted === undefined) {
      this.#counters.discarded += 1;
      return false;
    }
    this.#authentication = admitted;
    this.#handle({ type: 'packet', packet });
    return true;
  }

  /** See `agreeOnKey`. @throws RangeError for a key that cannot be sent */
  authenticate(key: BfdKey | undefined): void {
    this.#authentication = forgetEndedKey(agreeOnKey(this.#authentication, key), this.#session.state);
  }

  /** @throws RangeError for intervals that cannot be; nothing changes then */
  change(timing: BfdTiming): void {
    const settings = settingsOf(timing);
    checkBfdSettings(settings);
    this.#handle({ type: 'settings', settings });
  }

  setAdminDown(isDown: boolean): void {
    this.#handle({ type: isDown ? 'admin-down' : 'admin-up' });
  }

  close(): void {
    this.#isClosed = true;
    this.#sender?.close();
    this.#sender = undefined;
  }

  status(): BfdSessionStatus {
    const session = this.#session;
    const { state, diagnostic, discriminator } = session.remote;
    return {
      id: this.options.id,
      remoteAddress: this.options.remoteAddress,
      multihop: this.options.multihop === true,
      state: session.state,
      since: session.since,
      diagnostic: session.diagnostic,
      remote: discriminator === 0 ? undefined : { state, diagnostic, discriminator },
      localDiscriminator: session.localDiscriminator,
      transmitInterval: bfdTransmitInterval(session),
      detectionTime: bfdDetectionTime(session),
      lastReceivedAt: session.receivedAt,
      sendError: this.#sendError,
      authentication: authenticationStatus(this.#authentication),
      counters: { ...this.#counters },
    };
  }

  #handle(event: BfdEvent): void {
    if (this.#isClosed) return;
    const { clock, random } = this.#context;
    const before = this.#session;
    const now = clock.now();
    const step = bfdStep(before, event, now, random());
    this.#session = step.session;
    this.#authentication = forgetEndedKey(this.#authentication, step.session.state);
    for (const action of step.actions) this.#act(action, before, now);
    this.#context.expectAt(this.wakeAt);
  }

  #act(action: BfdAction, before: BfdSession, now: number): void {
    switch (action.type) {
      case 'send':
        this.#send(action.packet);
        return;
      case 'state-changed':
        this.#report(action, before, now);
        return;
    }
  }

  #report(
    { from, to, reason }: Extract<BfdAction, { type: 'state-changed' }>,
    before: BfdSession,
    at: number,
  ): void {
    const isFailure = isBfdFailure(from, reason);
    if (isFailure) this.#counters.failures += 1;
    const isSilence = reason === 'detection-expired';
    const detectionTime = bfdDetectionTime(before);
    this.#context.changed({
      id: this.options.id,
      from,
      to,
      reason,
      isFailure,
      diagnostic: this.#session.diagnostic,
      // After a silence the session has forgotten the peer.
      remoteDiagnostic: (isSilence ? before : this.#session).remote.diagnostic,
      at,
      lastReceivedAt: (isSilence ? before : this.#session).receivedAt,
      detectionTime,
      timerDelay: isSilence ? this.#timerDelay : 0,
      areOthersSilent: isSilence && this.#context.areOthersSilent(at),
    });
  }

  /** A socket that cannot be had, such as for an address that is not there yet, is tried again with the next packet. */
  #send(packet: BfdControlPacket): void {
    try {
      this.#sender ??= this.#open();
      this.#sender.send(this.#signed(packet));
      this.#counters.sent += 1;
      this.#sendError = undefined;
    } catch (error) {
      this.#counters.sendErrors += 1;
      this.#sendError = error instanceof Error ? error.message : String(error);
    }
  }

  #signed(packet: BfdControlPacket): Uint8Array {
    const octets = encodeBfdControlPacket(packet);
    const { key } = this.#authentication;
    if (key === undefined || !isBfdPacketSigned(this.#authentication, packet.state)) return octets;
    this.#sequence[0] = (this.#sequence[0] ?? 0) + 1;
    return signBfdPacket(octets, key, this.#sequence[0] ?? 0, sha1);
  }

  #open(): BfdSender {
    const { remoteAddress, localAddress, device, multihop } = this.options;
    return this.#context.sockets.open({
      remoteAddress,
      remotePort: multihop === true ? bfdPort.multihop : bfdPort.singleHop,
      ...(localAddress === undefined ? {} : { localAddress }),
      ...(device === undefined ? {} : { device }),
    });
  }

  /** Node runs timers before it polls: after a stall of ours the packets of the peer still wait in the socket. */
  #checkSilence(delay: number): void {
    this.#isCheckingSilence = true;
    this.#timerDelay = delay;
    this.#context.afterReading(() => {
      this.#isCheckingSilence = false;
      const detectAt = bfdDetectAt(this.#session);
      if (detectAt !== undefined && detectAt > this.#context.clock.now()) this.#counters.averted += 1;
      this.#handle({ type: 'detection-due' });
    });
  }
}

function authenticationStatus({ mode, isAgreed, isRequired }: BfdAuthentication): BfdAuthenticationStatus {
  if (isRequired) return 'required';
  if (isAgreed) return 'agreed';
  return mode === 'none' ? 'none' : 'not agreed';
}
