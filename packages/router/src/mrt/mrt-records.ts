import {
  AS_TRANS,
  encodeMrt,
  familyOfUpdate,
  type IpAddress,
  MessageType,
  parseIpAddress,
} from '@bgp-lb/protocol';
import type { Recorded } from './message-recorder.ts';

const UNKNOWN = { 4: parseIpAddress('0.0.0.0'), 6: parseIpAddress('::') } as const;
/** Octets of a message's header before its length and before its type (RFC 4271 section 4.1). */
const LENGTH_AT = 16;
const TYPE_AT = 18;
/** Connections whose AS number is remembered. */
const MOST_CONNECTIONS = 256;

/**
 * Writes messages as MRT records (RFC 6396). The AS number of a peer is not known before its OPEN was read: messages that come
 * earlier have that of a later one of the same connection where `learn` has seen it, else AS_TRANS.
 */
export class MrtWriter {
  readonly #asns = new Map<string, number>();

  /** Notes whose AS number is whose. */
  learn({ remoteAddress, context }: Recorded): void {
    if (remoteAddress === undefined || context.peerAsn === AS_TRANS) {
      return;
    }
    this.#asns.delete(remoteAddress);
    this.#asns.set(remoteAddress, context.peerAsn);
    const [oldest] = this.#asns.keys();
    if (this.#asns.size > MOST_CONNECTIONS && oldest !== undefined) {
      this.#asns.delete(oldest);
    }
  }

  /** One record for each message. */
  records(recorded: Recorded): Uint8Array[] {
    this.learn(recorded);
    const { time, isSent, context, remoteAddress } = recorded;
    const peerAddress = addressOf(remoteAddress) ?? UNKNOWN[4];
    const local = addressOf(recorded.localAddress);
    const localAddress = local?.version === peerAddress.version ? local : UNKNOWN[peerAddress.version];
    const peerAsn = this.#asns.get(remoteAddress ?? '') ?? context.peerAsn;
    return messagesIn(recorded.bytes).map((message) => {
      const type = message[TYPE_AT];
      const families = isSent ? context.addPathSend : context.addPathReceive;
      const family = type === MessageType.Update ? familyOfUpdate(message) : undefined;
      return encodeMrt({
        kind: 'message',
        ...{ time, peerAsn, localAsn: context.localAsn, peerAddress, localAddress, message },
        interfaceIndex: 0,
        isLocal: isSent,
        // Only UPDATEs have AS numbers whose length was negotiated; the record itself has room for those of four octets then.
        asn4: type !== MessageType.Update || context.asn4,
        addPath: family !== undefined && families.includes(family),
      });
    });
  }
}

/** The whole messages that lie one after another. */
function messagesIn(bytes: Uint8Array): Uint8Array[] {
  const messages: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = ((bytes[at + LENGTH_AT] ?? 0) << 8) | (bytes[at + LENGTH_AT + 1] ?? 0);
    const end = Math.max(at + TYPE_AT + 1, at + length);
    messages.push(bytes.subarray(at, end));
    at = end;
  }
  return messages;
}

/** Of `10.0.0.11:179` and `[fd00::11]:179`; a zone is left out. */
function addressOf(endpoint: string | undefined): IpAddress | undefined {
  const match = /^\[?([^\]%]+)(?:%[^\]]*)?\]?:\d+$/.exec(endpoint ?? '');
  return match?.[1] === undefined ? undefined : parseIpAddress(match[1]);
}
