/** Work of a BGP speaker that is told a large table again and again: UPDATEs are cut, decoded and applied. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AdjRibIn,
  AttributeTable,
  asn,
  type CodecContext,
  decodeMessage,
  encodeMessage,
  Framer,
  ipv4Unicast,
  MAX_MESSAGE_LENGTH,
  Origin,
  parseIpAddress,
  parsePrefix,
  parseRouterId,
  pathAttributes,
  type UpdateMessage,
} from '@bgp-lb/protocol';

/** UPDATEs of one round, and prefixes in each. */
const updates = 100;
const prefixesPerUpdate = 900;
/** ms that the thread works without a look at its event loop: longer than the Detection Time of 50 ms x 3. */
const slice = 250;
/** ms between two slices. */
const breath = 5;

const local = asn(64512);
const context: CodecContext = {
  asn4: true,
  isInternal: true,
  localAsn: local,
  peerAsn: local,
  maxReceiveLength: MAX_MESSAGE_LENGTH,
  maxSendLength: MAX_MESSAGE_LENGTH,
  families: [ipv4Unicast],
  addPathReceive: [],
  addPathSend: [],
};

/** What was done so far. */
export interface LoadFigures {
  readonly updates: number;
  /** The longest time without a look at the event loop, in ms. */
  readonly longestBlock: number;
}

let applied = 0;
let longestBlock = 0;
let isWanted = false;

/** Works until `end`. */
export function begin(): void {
  isWanted = true;
  void work();
}

/** The load ends with the slice that runs. */
export function end(): void {
  isWanted = false;
}

export function figures(): LoadFigures {
  return { updates: applied, longestBlock };
}

function encodedUpdate(number: number, localPref: number): Uint8Array {
  const nlri = Array.from({ length: prefixesPerUpdate }, (_, n) => ({
    prefix: parsePrefix(`${20 + Math.floor(number / 64)}.${(number % 64) * 4 + (n >> 8)}.${n & 255}.0/24`),
    pathId: 0,
  }));
  const message: UpdateMessage = {
    type: 'UPDATE',
    withdrawn: [],
    attributes: pathAttributes({
      origin: Origin.Igp,
      asPath: [],
      nextHop: parseIpAddress('10.9.0.1'),
      localPref,
    }),
    nlri,
    mpReach: undefined,
    mpUnreach: undefined,
  };
  return encodeMessage(message, context).slice();
}

async function work(): Promise<void> {
  // Two rounds with other attributes, so that each changes every path.
  const stream = [100, 200].flatMap((localPref) =>
    Array.from({ length: updates }, (_, number) => encodedUpdate(number, localPref)),
  );
  const source = {
    name: 'load',
    address: parseIpAddress('10.9.0.1'),
    routerId: parseRouterId('10.9.0.1'),
    asn: local,
    isInternal: true,
  };
  const rib = new AdjRibIn({ table: new AttributeTable(), source });
  const framer = new Framer(MAX_MESSAGE_LENGTH);
  for (let next = 0; isWanted; await sleep(breath)) {
    const since = performance.now();
    while (performance.now() - since < slice) {
      framer.push(stream[next] ?? new Uint8Array());
      next = (next + 1) % stream.length;
      apply(framer, rib);
    }
    longestBlock = Math.max(longestBlock, performance.now() - since);
  }
}

function apply(framer: Framer, rib: AdjRibIn): void {
  for (let frame = framer.next(); frame !== undefined; frame = framer.next()) {
    const message = decodeMessage(frame, context);
    if (message.type !== 'UPDATE') throw new Error(`the load made a message of type ${message.type}`);
    rib.apply(message, performance.now());
    applied += 1;
  }
}
