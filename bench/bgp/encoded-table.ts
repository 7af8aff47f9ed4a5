/** A made-up routing table as the octets of its UPDATEs: the same for every daemon and every run. */
import {
  type Asn,
  asn,
  type CodecContext,
  encodeMessage,
  ipAddress,
  ipv4Unicast,
  MAX_MESSAGE_LENGTH,
  type Nlri,
  type PathAttributes,
  pathAttributes,
  prefix,
  Writer,
} from '@bgp-lb/protocol';

/** Prefixes that share one set of attributes, on average. */
const prefixesPerSet = 10;
const seed = 20260101;
/** A chunk is full when it has this many octets. */
const chunkSize = 65_536;

/** Who sends the table. */
export interface TableSender {
  readonly asn: number;
  /** The next hop of all routes. */
  readonly address: Uint8Array;
  /** Of the receiver's own AS: nothing is put before the AS_PATH, and there is a LOCAL_PREF. */
  readonly isInternal: boolean;
}

/** What is sent, and how much of it there is. */
export interface EncodedTable {
  /** Whole messages, 64 KiB or a little more of them in each. */
  readonly chunks: readonly Uint8Array[];
  readonly updates: number;
  readonly attributeSets: number;
}

/** `count` prefixes of 24 bits, 5 to 8 in an UPDATE; each UPDATE has one of `count / 10` sets of attributes, drawn at random. */
export function encodedTable(count: number, sender: TableSender): EncodedTable {
  const random = generator(seed);
  const context = contextOf(asn(sender.asn), sender.isInternal);
  const sets = Math.max(1, Math.round(count / prefixesPerSet));
  const used = new Set<number>();
  const writer = new Writer();
  const chunks: Uint8Array[] = [];
  let parts: Uint8Array[] = [];
  let size = 0;
  let updates = 0;
  const finishChunk = (): void => {
    chunks.push(Buffer.concat(parts));
    parts = [];
    size = 0;
  };
  for (let next = 0; next < count; ) {
    const first = next;
    next = Math.min(count, next + 5 + random(4));
    const set = random(sets);
    used.add(set);
    const nlri = Array.from({ length: next - first }, (_, n) => nlriOf(first + n));
    const attributes = attributesOf(set, sender);
    const update = { attributes, nlri, withdrawn: [], mpReach: undefined, mpUnreach: undefined } as const;
    const message = encodeMessage({ type: 'UPDATE', ...update }, context, writer);
    parts.push(message);
    updates += 1;
    size += message.length;
    if (size >= chunkSize) finishChunk();
  }
  if (size > 0) finishChunk();
  return { chunks, updates, attributeSets: used.size };
}

/** 20.0.0.0/24, in units of a /24: none of those upwards is ours, a loopback or multicast address. */
export const firstNetwork: number = 20 * 65536;

function nlriOf(number: number): Nlri {
  const network = firstNetwork + number;
  const bytes = Uint8Array.of(network >> 16, (network >> 8) & 255, network & 255, 0);
  return { prefix: prefix(ipv4Unicast, bytes, 24), pathId: undefined };
}

/** AS paths of 2 to 6 numbers, up to three communities, a MED with every second set. */
function attributesOf(set: number, sender: TableSender): PathAttributes {
  const random = generator(set + 1);
  const path = Array.from({ length: 1 + random(5) }, () => asn(1000 + random(60_000)));
  const communities = Array.from({ length: random(4) }, () => 65536 * (1 + random(64_000)) + random(65_536));
  return pathAttributes({
    origin: 0,
    // The last number makes each set another one.
    asPath: [
      { type: 2, asns: [...(sender.isInternal ? [] : [asn(sender.asn)]), ...path, asn(100_000 + set)] },
    ],
    localPref: sender.isInternal ? 100 : undefined,
    nextHop: ipAddress(sender.address),
    multiExitDisc: set % 2 === 0 ? random(1000) : undefined,
    communities: communities.length > 0 ? communities : undefined,
  });
}

function contextOf(sender: Asn, isInternal: boolean): CodecContext {
  return {
    asn4: true,
    isInternal,
    localAsn: sender,
    peerAsn: sender,
    maxReceiveLength: MAX_MESSAGE_LENGTH,
    maxSendLength: MAX_MESSAGE_LENGTH,
    families: [ipv4Unicast],
    addPathReceive: [],
    addPathSend: [],
  };
}

/** Numbers from 0 to `below` - 1, the same for the same seed (mulberry32). */
function generator(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
