/** What must hold for any octets that a peer sends. */
import {
  AdjRibIn,
  AttributeTable,
  asn,
  type CodecContext,
  type DecodedMessage,
  type DecodedUpdate,
  decodedUpdate,
  decodeMessage,
  EncodeError,
  encodeMessage,
  type Frame,
  Framer,
  families,
  localOpen,
  NotificationError,
  negotiate,
  parseIpAddress,
  parseRouterId,
  readMessage,
} from '@bgp-lb/protocol';
import { messageText } from '../kit/message-text.ts';

/** What is put to the test; ours by default. */
export interface Codec {
  decode(frame: Frame, context: CodecContext): DecodedMessage;
  encode(message: DecodedMessage, context: CodecContext): Uint8Array;
}

export const ourCodec: Codec = { decode: decodeMessage, encode: encodeMessage };

const ourOpen = localOpen({
  asn: asn(64999),
  routerId: parseRouterId('10.0.0.1'),
  holdTime: 90,
  families,
  addPathSend: families,
  addPathReceive: families,
  extendedMessage: true,
  enhancedRouteRefresh: true,
  gracefulRestart: { restarting: false, restartTime: 60, families },
});

const source = {
  name: 'fuzz',
  address: parseIpAddress('10.0.0.2'),
  routerId: parseRouterId('10.0.0.2'),
  asn: asn(65001),
  isInternal: false,
};

/**
 * Feeds octets to framer, codec, negotiation and RIB.
 * @param splits where the stream is cut on its way, besides coming whole
 * @throws Error that says which rule was broken, or what a part of ours threw
 * @returns what became of each message, for those who count
 */
export function check(
  bytes: Uint8Array,
  context: CodecContext,
  splits: readonly number[],
  codec: Codec = ourCodec,
): readonly string[] {
  const whole = outcomes([bytes], context, codec);
  const pieces = outcomes(cut(bytes, splits), context, codec);
  if (whole.join('\n') !== pieces.join('\n')) {
    throw new Error(`whole: ${whole.join('; ')}, cut at ${splits.join(', ')}: ${pieces.join('; ')}`);
  }
  return whole;
}

/** What is read from the stream, in words, up to the NOTIFICATION that ends it. */
function outcomes(chunks: readonly Uint8Array[], context: CodecContext, codec: Codec): string[] {
  const framer = new Framer(context.maxReceiveLength);
  const found: string[] = [];
  try {
    for (const chunk of chunks) {
      framer.push(chunk);
      for (let frame = framer.next(); frame !== undefined; frame = framer.next()) {
        const message = codec.decode(frame, context);
        checkMessage(message, context, codec);
        if (message.type === 'UPDATE') checkMemory(frame, context, message);
        found.push(messageText(message));
      }
    }
  } catch (error) {
    if (!(error instanceof NotificationError)) throw error;
    checkNotification(error, context, codec);
    found.push(`NOTIFICATION ${error.code}/${error.subcode}`);
  }
  return found;
}

function checkMessage(message: DecodedMessage, context: CodecContext, codec: Codec): void {
  if (message.type === 'OPEN') {
    negotiate(ourOpen, message, { localAsn: asn(64999), remoteAsn: 'external' });
  }
  if (message.type === 'UPDATE') {
    checkFaults(message);
    new AdjRibIn({ table: new AttributeTable(), source }).apply(message, 0);
    if (message.treatAsWithdraw) return;
  }
  const once = encoded(message, context, codec);
  if (once === undefined) return;
  const again = codec.decode({ type: once[18] ?? 0, bytes: once }, context);
  if (messageText(again) !== messageText(message)) {
    throw new Error(`read: ${messageText(message)}, written and read again: ${messageText(again)}`);
  }
  if (again.type === 'UPDATE' && again.faults.length > 0) {
    throw new Error(`what was written has a fault: ${again.faults[0]?.reason}`);
  }
  const twice = encoded(again, context, codec);
  if (twice === undefined || Buffer.compare(once, twice) !== 0) throw new Error('written twice, differently');
}

/** What a table remembers of attributes changes nothing, whatever the octets and whatever is wrong with them. */
function checkMemory(frame: Frame, context: CodecContext, message: DecodedUpdate): void {
  const table = new AttributeTable();
  const rib = new AdjRibIn({ table, source });
  for (const turn of ['first', 'second']) {
    const update = readMessage(frame, context, table);
    if (update.type !== 'UPDATE') throw new Error(`${update.type} instead of an UPDATE`);
    const [ours, wanted] = [normalised(decodedUpdate(update)), normalised(message)].map(messageText);
    if (ours !== wanted) throw new Error(`read the ${turn} time: ${ours}, decoded: ${wanted}`);
    rib.receive(update, 0, turn === 'first');
  }
}

/** Communities are sets: the table keeps them in order. */
function normalised(update: DecodedUpdate): DecodedUpdate {
  const { attributes } = update;
  return { ...update, attributes: attributes && new AttributeTable().intern(attributes) };
}

/** RFC 7606 section 2: each fault has an action, and the strongest one is taken. */
function checkFaults({ faults, treatAsWithdraw }: DecodedUpdate): void {
  const actions: readonly string[] = faults.map(({ action }) => action);
  const odd = actions.find((action) => action !== 'attribute-discard' && action !== 'treat-as-withdraw');
  if (odd !== undefined) throw new Error(`a fault with the action ${odd}`);
  if (treatAsWithdraw !== actions.includes('treat-as-withdraw')) {
    throw new Error(`treatAsWithdraw is ${treatAsWithdraw} with the actions ${actions.join()}`);
  }
}

/** `undefined` where it is a message that we must not send. */
function encoded(message: DecodedMessage, context: CodecContext, codec: Codec): Uint8Array | undefined {
  try {
    return codec.encode(message, context);
  } catch (error) {
    if (error instanceof EncodeError) return undefined;
    throw error;
  }
}

function checkNotification(error: NotificationError, context: CodecContext, codec: Codec): void {
  const { code, subcode, data } = error;
  if (code < 1 || code > 7) throw new Error(`NOTIFICATION ${code}/${subcode}`);
  codec.encode({ type: 'NOTIFICATION', code, subcode, data }, context);
}

function cut(bytes: Uint8Array, splits: readonly number[]): Uint8Array[] {
  const ends = [...splits.map((at) => at % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, n) => bytes.subarray(n === 0 ? 0 : ends[n - 1], end));
}
