import type { Clock } from '@bgp-lb/protocol/node';
import { type ClaimContext, type ClaimEvent, type ClaimState, initialClaim, stepClaim } from './claim.ts';
import type { LinkLanguage, OutgoingPacket } from './link-message.ts';

/** What hears and speaks on the link; `PacketSocket` of @bgp-lb/linux is one. */
export interface LinkSocket {
  send(packet: Uint8Array, to: Uint8Array): void;
  close(): void;
}

export interface LinkSegmentOptions {
  readonly addresses: readonly string[];
  /** Our link-layer address there. */
  readonly own: string;
  readonly language: LinkLanguage;
  readonly clock: Clock;
  /** Hears what is about these addresses. */
  open(
    addresses: readonly string[],
    handlers: { packet(packet: Uint8Array): void; lost(error: Error): void },
  ): LinkSocket;
  isServing(address: string): boolean;
  changed(address: string, from: ClaimState, to: ClaimState): void;
  /** It is over: the link went away, or nothing can be sent there. */
  lost(error: Error): void;
}

/** The claims of all VIPs of one IP version on one link: the I/O around `stepClaim`. */
export class LinkSegment {
  readonly #options: LinkSegmentOptions;
  readonly #claims: Map<string, ClaimState>;
  #socket: LinkSocket;
  #cancel: () => void = () => undefined;
  #isClosed = false;

  /** @throws what `open` throws */
  constructor(options: LinkSegmentOptions) {
    this.#options = options;
    const now = options.clock.now();
    this.#claims = new Map(options.addresses.map((address) => [address, initialClaim(now)]));
    this.#socket = this.#open(options.addresses);
    this.#arm();
  }

  /**
   * Claims these from now on; the claims of those that stay go on as they are.
   * @throws what `open` throws: then nothing is changed
   */
  setAddresses(addresses: readonly string[]): void {
    const now = this.#options.clock.now();
    const before = this.#socket;
    this.#socket = this.#open(addresses);
    before.close();
    for (const address of this.#claims.keys()) {
      if (!addresses.includes(address)) this.#claims.delete(address);
    }
    for (const address of addresses) {
      if (!this.#claims.has(address)) this.#claims.set(address, initialClaim(now));
    }
    this.#arm();
  }

  #open(addresses: readonly string[]): LinkSocket {
    return this.#options.open(addresses, {
      packet: (packet) => this.#heard(packet),
      lost: (error) => this.#lose(error),
    });
  }

  stateOf(address: string): ClaimState | undefined {
    return this.#claims.get(address);
  }

  /** The pool of a VIP has a member now, or none any more. */
  setServing(address: string, isServing: boolean): void {
    this.#take(address, { type: 'serving', isServing });
    this.#arm();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancel();
    this.#socket.close();
  }

  #heard(packet: Uint8Array): void {
    const heard = this.#options.language.parse(packet);
    if (heard === undefined) return;
    this.#take(heard.address, heard.message);
    this.#arm();
  }

  #take(address: string, event: ClaimEvent): void {
    const before = this.#claims.get(address);
    if (before === undefined || this.#isClosed) return;
    const { own, clock, isServing, changed } = this.#options;
    const context: ClaimContext = { own, isServing: isServing(address), now: clock.now() };
    const { state, actions } = stepClaim(before, event, context);
    this.#claims.set(address, state);
    for (const action of actions) {
      const { language } = this.#options;
      this.#send(
        action.send === 'answer' ? language.answer(address, action.replyTo) : language[action.send](address),
      );
    }
    if (before.phase !== state.phase || before.owner !== state.owner) changed(address, before, state);
  }

  #send({ packet, to }: OutgoingPacket): void {
    if (this.#isClosed) return;
    try {
      this.#socket.send(packet, to);
    } catch (error) {
      this.#lose(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #lose(error: Error): void {
    if (this.#isClosed) return;
    this.close();
    this.#options.lost(error);
  }

  /** One timer for all claims. */
  #arm(): void {
    this.#cancel();
    if (this.#isClosed) return;
    const { clock } = this.#options;
    const dueAt = Math.min(...[...this.#claims.values()].map((claim) => claim.dueAt));
    if (dueAt === Number.POSITIVE_INFINITY) return;
    this.#cancel = clock.after(Math.max(0, dueAt - clock.now()), () => {
      for (const address of this.#claims.keys()) this.#take(address, { type: 'tick' });
      this.#arm();
    });
  }
}
