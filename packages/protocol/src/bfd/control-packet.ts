/**
 * The BFD Control packet (RFC 5880 section 4.1), without an Authentication Section: see `authentication.ts`.
 *
 * ```
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 * |Vers |  Diag   |Sta|P|F|C|A|D|M|  Detect Mult  |    Length     |
 * |                       My Discriminator                        |
 * |                      Your Discriminator                       |
 * |                    Desired Min TX Interval                    |
 * |                   Required Min RX Interval                    |
 * |                 Required Min Echo RX Interval                 |
 * ```
 */
import { EncodeError } from '../wire/errors.ts';

/** Session states by their number in the State field (RFC 5880 section 4.1). */
const states = ['AdminDown', 'Down', 'Init', 'Up'] as const;

/** The state of a session (RFC 5880 section 6.2). */
export type BfdState = (typeof states)[number];

/** Diagnostic codes (RFC 5880 section 4.1). A peer may send others, up to 31. */
export const BfdDiagnostic = {
  None: 0,
  ControlDetectionTimeExpired: 1,
  EchoFunctionFailed: 2,
  NeighborSignaledSessionDown: 3,
  ForwardingPlaneReset: 4,
  PathDown: 5,
  ConcatenatedPathDown: 6,
  AdministrativelyDown: 7,
  ReverseConcatenatedPathDown: 8,
} as const;

const diagnosticNames: readonly string[] = [
  'No Diagnostic',
  'Control Detection Time Expired',
  'Echo Function Failed',
  'Neighbor Signaled Session Down',
  'Forwarding Plane Reset',
  'Path Down',
  'Concatenated Path Down',
  'Administratively Down',
  'Reverse Concatenated Path Down',
];

/** A diagnostic code in the words of RFC 5880 section 4.1. */
export function describeBfdDiagnostic(code: number): string {
  return diagnosticNames[code] ?? `diagnostic ${code}`;
}

/** The fields of a BFD Control packet by their names in RFC 5880 section 4.1. Intervals are in microseconds. */
export interface BfdControlPacket {
  /** Why the sender's session last changed its state: `BfdDiagnostic`, or a code up to 31 that has no name. */
  readonly diagnostic: number;
  readonly state: BfdState;
  readonly poll: boolean;
  readonly final: boolean;
  readonly controlPlaneIndependent: boolean;
  /** An Authentication Section follows. Not written here. */
  readonly authenticationPresent: boolean;
  readonly demand: boolean;
  /** 1 to 255. */
  readonly detectMult: number;
  /** Not 0. */
  readonly myDiscriminator: number;
  /** 0 while the sender does not know it. */
  readonly yourDiscriminator: number;
  readonly desiredMinTx: number;
  /** 0: the sender wants no periodic packets. */
  readonly requiredMinRx: number;
  /** 0: the sender does not loop Echo packets back. */
  readonly requiredMinEchoRx: number;
}

/** Why a packet is discarded (RFC 5880 section 6.8.6), named after the field at fault. */
export type BfdDiscardReason =
  /** Not version 1. */
  | 'version'
  /** Length below the minimum, or above the payload. */
  | 'length'
  /** Detect Mult 0. */
  | 'detect-mult'
  /** The Multipoint bit. */
  | 'multipoint'
  /** My Discriminator 0. */
  | 'my-discriminator'
  /** Your Discriminator 0 from a sender that says Init or Up. */
  | 'your-discriminator'
  /** No session with that Your Discriminator, or, where it is 0, with that source address. */
  | 'no-session'
  /** An Authentication Section where none is in use, or none that is valid where it is. */
  | 'authentication';

/** All reasons, in the order in which RFC 5880 section 6.8.6 looks for them. */
export const bfdDiscardReasons: readonly BfdDiscardReason[] = [
  'version',
  'length',
  'detect-mult',
  'multipoint',
  'my-discriminator',
  'no-session',
  'your-discriminator',
  'authentication',
];

/** Octets of a packet without Authentication Section. */
const packetLength = 24;
/** The least with the A bit: Auth Type and Auth Len follow. */
const authenticatedLength = 26;

const Bit = {
  Poll: 0x20,
  Final: 0x10,
  ControlPlaneIndependent: 0x08,
  Authentication: 0x04,
  Demand: 0x02,
  Multipoint: 0x01,
} as const;

/**
 * Reads the payload of a UDP datagram. Never throws: what RFC 5880 section 6.8.6 discards before a session is looked
 * for gives the reason. Octets after Length are ignored, and so is the content of an Authentication Section.
 */
export function decodeBfdControlPacket(payload: Uint8Array): BfdControlPacket | BfdDiscardReason {
  if (payload.length === 0) return 'length';
  // By DataView, not by Reader: hundreds of packets a second pass here, and all lengths are checked once.
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
  const first = view.getUint8(0);
  if (first >> 5 !== 1) return 'version';
  if (payload.length < packetLength) return 'length';
  const flags = view.getUint8(1);
  const detectMult = view.getUint8(2);
  const length = view.getUint8(3);
  const least = flags & Bit.Authentication ? authenticatedLength : packetLength;
  if (length < least || length > payload.length) return 'length';
  if (detectMult === 0) return 'detect-mult';
  if (flags & Bit.Multipoint) return 'multipoint';
  const state = states[flags >> 6] ?? 'AdminDown';
  const myDiscriminator = view.getUint32(4);
  if (myDiscriminator === 0) return 'my-discriminator';
  const yourDiscriminator = view.getUint32(8);
  if (yourDiscriminator === 0 && state !== 'Down' && state !== 'AdminDown') return 'your-discriminator';
  return {
    diagnostic: first & 0x1f,
    state,
    poll: (flags & Bit.Poll) !== 0,
    final: (flags & Bit.Final) !== 0,
    controlPlaneIndependent: (flags & Bit.ControlPlaneIndependent) !== 0,
    authenticationPresent: (flags & Bit.Authentication) !== 0,
    demand: (flags & Bit.Demand) !== 0,
    detectMult,
    myDiscriminator,
    yourDiscriminator,
    desiredMinTx: view.getUint32(12),
    requiredMinRx: view.getUint32(16),
    requiredMinEchoRx: view.getUint32(20),
  };
}

/**
 * The 24 octets of a packet, without the Authentication Present bit.
 * @throws EncodeError for a number that does not fit its field
 */
export function encodeBfdControlPacket(packet: BfdControlPacket): Uint8Array {
  const octets = new Uint8Array(packetLength);
  const view = new DataView(octets.buffer);
  view.setUint8(0, (1 << 5) | (packet.diagnostic & 0x1f));
  view.setUint8(
    1,
    (states.indexOf(packet.state) << 6) |
      (packet.poll ? Bit.Poll : 0) |
      (packet.final ? Bit.Final : 0) |
      (packet.controlPlaneIndependent ? Bit.ControlPlaneIndependent : 0) |
      (packet.demand ? Bit.Demand : 0),
  );
  view.setUint8(2, checked(packet.detectMult, 0xff));
  view.setUint8(3, packetLength);
  view.setUint32(4, checked(packet.myDiscriminator, 0xffff_ffff));
  view.setUint32(8, checked(packet.yourDiscriminator, 0xffff_ffff));
  view.setUint32(12, checked(packet.desiredMinTx, 0xffff_ffff));
  view.setUint32(16, checked(packet.requiredMinRx, 0xffff_ffff));
  view.setUint32(20, checked(packet.requiredMinEchoRx, 0xffff_ffff));
  return octets;
}

function checked(value: number, largest: number): number {
  if (!Number.isInteger(value) || value < 0 || value > largest) {
    throw new EncodeError(`BFD Control packet: ${value} does not fit its field; allowed are 0 to ${largest}`);
  }
  return value;
}
