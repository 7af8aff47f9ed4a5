import type { Clock } from '@bgp-lb/protocol/node';
import {
  type ClaimAction,
  type ClaimContext,
  type ClaimEvent,
  type ClaimState,
  initialClaim,
  stepClaim,
} from './claim.ts';
import type { LinkLanguage, OutgoingPacket } from './link-message.ts';

/** What hears and speaks on the link; `PacketSocket` of @bgp-lb/linux is one. */
export interface LinkSocket {
  send(packet: Uint8Array, to: Uint8Array): void;
  close(): void;
}

/** What speaks for an address that we answer for, by a device of its own. */
export interface LinkVoice {
  /** It has spoken for the address since before this process began. */
  isHeld(address: string): boolean;
  /** The address is ours: whatever it takes is made, unless it is there. @throws when it cannot be */
  hold(address: string, isServing: boolean): LinkSocket;
  /** It is ours no more. */
  release(address: string): void;
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
  /** Where answers and announcements leave by. Default: where everything else does. */
  readonly voice?: LinkVoice | undefined;
  isServing(address: string): boolean;
  /** Whether this host has the VIPs by VRRP; undefined where that is settled on the link. */
  readonly isOwner?: (() => boolean) | undefined;
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
    this.#claims = new Map(options.addresses.map((address) => [address, this.#initial(address, now)]));
    this.#socket = this.#open(options.addresses);
    for (const [address, state] of this.#claims) this.#settle(address, state);
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
    this.#release((address) => !addresses.includes(address));
    for (const address of this.#claims.keys()) {
      if (!addresses.includes(address)) this.#claims.delete(address);
    }
    for (const address of addresses) {
      if (!this.#claims.has(address)) this.#claims.set(address, this.#initial(address, now));
    }
    for (const [address, state] of this.#claims) this.#settle(address, state);
    this.#arm();
  }

  #initial(address: string, now: number): ClaimState {
    const { voice, isOwner, own } = this.#options;
    const initial = initialClaim(now, voice?.isHeld(address) === true);
    if (isOwner === undefined) return initial;
    return stepClaim(initial, { type: 'ordered', isOwner: isOwner() }, { own, isServing: false, now }).state;
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

  /** VRRP has given this host the VIPs, or taken them. */
  setOwner(isOwner: boolean): void {
    for (const address of this.#claims.keys()) this.#take(address, { type: 'ordered', isOwner });
    this.#arm();
  }

  /** What speaks for the addresses goes on where the kernel does. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancel();
    this.#socket.close();
  }

  /** Nothing is claimed any more, and nothing speaks for it. */
  withdraw(): void {
    this.close();
    this.#release(() => true);
  }

  #release(isMeant: (address: string) => boolean): void {
    for (const [address, { phase }] of this.#claims) {
      if (phase === 'answering' && isMeant(address)) this.#options.voice?.release(address);
    }
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
    const { own, clock, isServing, changed, isOwner } = this.#options;
    // A host that has a VIP by VRRP is asked for it, whether its pool has a member or not: clients are to be refused at once then.
    const context: ClaimContext = {
      own,
      isServing: isServing(address) || isOwner?.() === true,
      now: clock.now(),
      ...(isOwner !== undefined && { isOrdered: true }),
    };
    const { state, actions } = stepClaim(before, event, context);
    this.#claims.set(address, state);
    for (const action of actions) this.#act(address, action);
    if (before.phase === 'answering' && state.phase !== 'answering') this.#options.voice?.release(address);
    else if (event.type === 'serving' || before.phase !== state.phase) this.#settle(address, state);
    const isSameOwner = before.owner === state.owner && before.isOwnerPeer === state.isOwnerPeer;
    if (before.phase !== state.phase || !isSameOwner) changed(address, before, state);
  }

  /** What speaks for the address is as it is to be, also while nothing is said. */
  #settle(address: string, { phase }: ClaimState): void {
    if (phase === 'answering') this.#trying(() => void this.#hold(address));
  }

  #act(address: string, action: ClaimAction): void {
    const { language } = this.#options;
    if (action.send === 'announcement') this.#say(address, language.announcement(address));
    else if (action.send !== 'answer')
      this.#trying(() => this.#send(this.#socket, language[action.send](address)));
    else for (const packet of language.answer(address, action.replyTo)) this.#say(address, packet);
  }

  /** As the one who has the address. */
  #say(address: string, packet: OutgoingPacket): void {
    this.#trying(() => this.#send(this.#hold(address), packet));
  }

  #hold(address: string): LinkSocket {
    const { voice, isServing } = this.#options;
    return voice?.hold(address, isServing(address)) ?? this.#socket;
  }

  #send(socket: LinkSocket, { packet, to }: OutgoingPacket): void {
    if (!this.#isClosed) socket.send(packet, to);
  }

  #trying(what: () => void): void {
    if (this.#isClosed) return;
    try {
      what();
    } catch (error) {
      this.#lose(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** The next claim of the address, ours perhaps, begins again. */
  #lose(error: Error): void {
    if (this.#isClosed) return;
    this.withdraw();
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
