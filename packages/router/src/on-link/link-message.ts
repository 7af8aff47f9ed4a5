/** What a packet on a link says about an address of ours. Link-layer addresses are text, `02:00:00:00:00:01`. */
export type LinkMessage =
  /** A question: which host has it. */
  | { readonly type: 'question'; readonly from: string; readonly replyTo: ReplyTo }
  /** A probe of a host that wants it (RFC 5227 section 2.1.1, RFC 4862 section 5.4). `undefined`: its own address is not in it. */
  | { readonly type: 'probe'; readonly from: string | undefined; readonly replyTo: ReplyTo }
  /**
   * A claim: the sender has it. Load balancers of this kind mark that they are such; `undefined`: a packet that has no room for a mark.
   * With `isShared`, `from` is the link-layer address that goes with the VIP: a load balancer, and not said which.
   */
  | {
      readonly type: 'claim';
      readonly from: string;
      readonly isPeer: boolean | undefined;
      readonly isShared?: true;
    };

/** Where an answer goes: octets of the link-layer address, and of the IP address. */
export interface ReplyTo {
  readonly link: Uint8Array;
  readonly address: Uint8Array;
  /** He is a load balancer as we are, and says so. */
  readonly isPeer: boolean;
}

/** A packet and the link-layer address that it goes to. */
export interface OutgoingPacket {
  readonly packet: Uint8Array;
  readonly to: Uint8Array;
}

/** How one IP version asks and answers who has an address. */
export interface LinkLanguage {
  /** The address that a packet is about, and what it says; `undefined` for one that says nothing of that kind. */
  parse(packet: Uint8Array): { readonly address: string; readonly message: LinkMessage } | undefined;
  /** A probe: whether a host has it. The sender has it not. */
  probe(address: string): OutgoingPacket;
  /** A question of an owner: which other host has it. The answer goes to us alone, and no host gives it up. */
  question(address: string): OutgoingPacket;
  /** One packet or more, in this order. */
  answer(address: string, replyTo: ReplyTo): readonly OutgoingPacket[];
  announcement(address: string): OutgoingPacket;
}

/** `02:00:00:00:00:01` of six octets. */
export function linkAddressText(octets: Uint8Array): string {
  return [...octets].map((octet) => octet.toString(16).padStart(2, '0')).join(':');
}

/** Six octets of `02:00:00:00:00:01`. */
export function linkAddressOctets(text: string): Uint8Array {
  return Uint8Array.from(text.split(':'), (octet) => Number.parseInt(octet, 16));
}

/**
 * What a load balancer does not answer with its own link-layer address but with one that goes with the VIP, so that clients need to learn
 * nothing when another takes it over. All who share it must still know each other apart: messages between them name the own one too.
 */
export interface SharedIdentity {
  /** The link-layer address that goes with a VIP. */
  linkOf(address: string): string;
}
