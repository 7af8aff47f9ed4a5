/** Octets of a BGP message's header (RFC 4271 section 4.1), and of an OPEN before its optional parameters (section 4.2). */
const HEADER = 19;
const OPEN_HEAD = HEADER + 10;
const OPEN = 1;
/** The optional parameter that holds capabilities (RFC 5492 section 4). */
const CAPABILITIES = 2;

/**
 * What a peer would see of these messages if their sender had never heard of some capabilities: they are taken out of its OPEN, and
 * nothing else is changed.
 * @param bytes whole messages
 * @param codes of capabilities (IANA)
 */
export function withoutCapabilities(bytes: Uint8Array, codes: ReadonlySet<number>): Uint8Array {
  const messages: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = ((bytes[at + 16] ?? 0) << 8) | (bytes[at + 17] ?? 0);
    if (length < HEADER || at + length > bytes.length) throw new Error(`a message of ${length} octets`);
    const message = bytes.subarray(at, at + length);
    messages.push(message[18] === OPEN ? openWithout(message, codes) : message);
    at += length;
  }
  return Uint8Array.from(Buffer.concat(messages));
}

function openWithout(open: Uint8Array, codes: ReadonlySet<number>): Uint8Array {
  const parameters: number[] = [];
  for (let at = OPEN_HEAD; at < open.length; ) {
    const [type = 0, length = 0] = open.subarray(at);
    const value = open.subarray(at + 2, at + 2 + length);
    if (type !== CAPABILITIES) throw new Error(`an optional parameter of type ${type}`);
    const left = capabilitiesWithout(value, codes);
    if (left.length > 0) parameters.push(type, left.length, ...left);
    at += 2 + length;
  }
  const message = Uint8Array.from([...open.subarray(0, OPEN_HEAD), ...parameters]);
  message[16] = message.length >> 8;
  message[17] = message.length & 0xff;
  message[OPEN_HEAD - 1] = parameters.length;
  return message;
}

function capabilitiesWithout(value: Uint8Array, codes: ReadonlySet<number>): readonly number[] {
  const left: number[] = [];
  for (let at = 0; at < value.length; ) {
    const [code = 0, length = 0] = value.subarray(at);
    if (!codes.has(code)) left.push(...value.subarray(at, at + 2 + length));
    at += 2 + length;
  }
  return left;
}
