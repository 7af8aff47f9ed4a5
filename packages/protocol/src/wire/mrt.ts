/**
 * MRT (RFC 6396): BGP messages in a file, as collectors write them and tools such as bgpdump and bgpkit read them.
 *
 *     Timestamp (4) | Type (2) | Subtype (2) | Length (4) | Microsecond Timestamp (4) |
 *     Peer AS (2 or 4) | Local AS (2 or 4) | Interface Index (2) | AFI (2) | Peer IP (4 or 16) | Local IP | BGP Message
 *
 * Written are records of type BGP4MP_ET (RFC 6396 sections 3 and 4.4), whose length counts the microseconds too, with the subtypes of
 * RFC 8050 section 3 for messages whose NLRI have path identifiers.
 */
import { AS_TRANS } from '../types/asn.ts';
import { type IpAddress, ipAddress } from '../types/ip-address.ts';
import { EncodeError, OverrunError } from './errors.ts';
import { Reader } from './reader.ts';
import { Writer } from './writer.ts';

/** One BGP message, when and between whom. */
export interface MrtMessage {
  readonly kind: 'message';
  /** Milliseconds since the Epoch; read and written to the microsecond. */
  readonly time: number;
  /** AS numbers as they are in the record: 0 where its writer knew none. */
  readonly peerAsn: number;
  readonly localAsn: number;
  /** Of the interface that the peer is on; 0 where it is not known. */
  readonly interfaceIndex: number;
  readonly peerAddress: IpAddress;
  /** Of the same family as the peer's. */
  readonly localAddress: IpAddress;
  /** The message was sent to the peer, not received from it. */
  readonly isLocal: boolean;
  /** AS numbers in the message have four octets, and so have those of the record. */
  readonly asn4: boolean;
  /** The NLRI in the message have path identifiers (RFC 7911). */
  readonly addPath: boolean;
  /** The whole message, its header included. */
  readonly message: Uint8Array;
}

/** A record of another type, which is left as it is. */
export interface MrtOther {
  readonly kind: 'other';
  readonly time: number;
  readonly type: number;
  readonly subtype: number;
  /** What follows the common header, and the microseconds where the type has them. */
  readonly body: Uint8Array;
}

/** What is no MRT: a record that is cut off, or whose lengths do not fit. */
export class MrtError extends Error {
  override readonly name = 'MrtError';
  /** Where the record begins. */
  readonly offset: number;

  constructor(offset: number, reason: string) {
    super(`MRT record at octet ${offset}: ${reason}`);
    this.offset = offset;
  }
}

/** RFC 6396 section 4.4: BGP4MP, and with microseconds. */
const Type = { Bgp4mp: 16, Bgp4mpEt: 17 } as const;
/** IANA's types with an extended timestamp (RFC 6396 section 3): BGP4MP_ET, ISIS_ET, OSPFv3_ET. */
const extended: readonly number[] = [Type.Bgp4mpEt, 33, 49];

/** BGP4MP_MESSAGE and its kin, by what they say of a message: RFC 6396 section 4.4, RFC 8050 section 3. */
const subtypes: readonly {
  readonly code: number;
  readonly asn4: boolean;
  readonly isLocal: boolean;
  readonly addPath: boolean;
}[] = [
  { code: 1, asn4: false, isLocal: false, addPath: false },
  { code: 4, asn4: true, isLocal: false, addPath: false },
  { code: 6, asn4: false, isLocal: true, addPath: false },
  { code: 7, asn4: true, isLocal: true, addPath: false },
  { code: 8, asn4: false, isLocal: false, addPath: true },
  { code: 9, asn4: true, isLocal: false, addPath: true },
  { code: 10, asn4: false, isLocal: true, addPath: true },
  { code: 11, asn4: true, isLocal: true, addPath: true },
];

const commonHeaderLength = 12;
/** Address families in a record: IANA's AFIs. */
const afi = { 4: 1, 6: 2 } as const;

/**
 * A record of type BGP4MP_ET.
 * @throws EncodeError for addresses of two families, and for what does not fit its field
 */
export function encodeMrt(record: MrtMessage): Uint8Array {
  const { peerAddress, localAddress, asn4, message } = record;
  if (peerAddress.version !== localAddress.version) {
    throw new EncodeError('an MRT record has both addresses of one family');
  }
  const subtype = subtypes.find(
    (one) => one.asn4 === asn4 && one.isLocal === record.isLocal && one.addPath === record.addPath,
  );
  const microseconds = Math.round(record.time * 1000);
  const addressLength = peerAddress.bytes.length;
  const writer = new Writer(64 + message.length);
  writer.u32(Math.floor(microseconds / 1_000_000));
  writer.u16(Type.Bgp4mpEt);
  writer.u16(subtype?.code ?? 0);
  writer.u32(4 + (asn4 ? 8 : 4) + 4 + 2 * addressLength + message.length);
  writer.u32(microseconds % 1_000_000);
  for (const number of [record.peerAsn, record.localAsn]) {
    if (asn4) writer.u32(number);
    else writer.u16(number <= 0xffff ? number : AS_TRANS);
  }
  writer.u16(record.interfaceIndex);
  writer.u16(afi[peerAddress.version]);
  writer.bytes(peerAddress.bytes);
  writer.bytes(localAddress.bytes);
  writer.bytes(message);
  return writer.take();
}

/**
 * The records of a file, in order.
 * @throws MrtError at the first that cannot be read
 */
export function* readMrt(file: Uint8Array): Generator<MrtMessage | MrtOther> {
  let offset = 0;
  while (offset < file.length) {
    const reader = Reader.of(file.subarray(offset));
    try {
      const { record, length } = readRecord(reader);
      yield record;
      offset += length;
    } catch (error) {
      if (!(error instanceof OverrunError)) throw error;
      throw new MrtError(offset, error.message);
    }
  }
}

/** @throws OverrunError */
function readRecord(reader: Reader): { readonly record: MrtMessage | MrtOther; readonly length: number } {
  const seconds = reader.u32();
  const type = reader.u16();
  const subtype = reader.u16();
  const length = reader.u32();
  const rest = reader.sub(length);
  const microseconds = extended.includes(type) ? rest.u32() : 0;
  const time = (seconds * 1_000_000 + microseconds) / 1000;
  const known = subtypes.find(({ code }) => code === subtype);
  const body = rest.bytes(rest.remaining);
  const record =
    known !== undefined && (type === Type.Bgp4mp || type === Type.Bgp4mpEt)
      ? readMessage(Reader.of(body), time, known)
      : undefined;
  return {
    record: record ?? { kind: 'other', time, type, subtype, body },
    length: commonHeaderLength + length,
  };
}

/** @returns undefined for an address family that is not known. @throws OverrunError */
function readMessage(
  reader: Reader,
  time: number,
  { asn4, isLocal, addPath }: (typeof subtypes)[number],
): MrtMessage | undefined {
  const number = (): number => (asn4 ? reader.u32() : reader.u16());
  const peerAsn = number();
  const localAsn = number();
  const interfaceIndex = reader.u16();
  const family = reader.u16();
  if (family !== afi[4] && family !== afi[6]) return undefined;
  const address = (): IpAddress => ipAddress(reader.bytes(family === afi[4] ? 4 : 16));
  const peerAddress = address();
  const localAddress = address();
  const message = reader.bytes(reader.remaining);
  return {
    kind: 'message',
    ...{
      time,
      peerAsn,
      localAsn,
      interfaceIndex,
      peerAddress,
      localAddress,
      isLocal,
      asn4,
      addPath,
      message,
    },
  };
}
