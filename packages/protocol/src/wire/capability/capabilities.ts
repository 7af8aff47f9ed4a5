import { OverrunError } from '../errors.ts';
import type { Reader } from '../reader.ts';
import type { Writer } from '../writer.ts';
import type { Capability } from './capability.ts';
import { capabilityCodecs } from './registry.ts';

type Decode = (reader: Reader) => Capability | undefined;

const decoders: ReadonlyMap<number, Decode> = new Map(
  Object.values(capabilityCodecs).map((codec) => [codec.code, codec.decode]),
);

/**
 * Reads the Capabilities optional parameter (RFC 5492 section 4) to its end:
 *
 *     | code (1) | length (1) | value | ...
 *
 * A capability whose value makes no sense is kept as unknown, so it takes no effect; it never reads the next one's octets.
 * All are kept in the order sent, repeated ones too: RFC 5492 section 4 lets a peer repeat what it likes.
 * @throws OverrunError when one passes the end of the parameter.
 */
export function readCapabilities(reader: Reader, into: Capability[]): void {
  while (reader.remaining > 0) {
    const code = reader.u8();
    const value = reader.sub(reader.u8());
    into.push(readCapability(code, value));
  }
}

function readCapability(code: number, value: Reader): Capability {
  const start = value.position;
  const length = value.remaining;
  const known = decodeKnown(code, value);
  return known ?? { name: 'unknown', code, value: value.slice(start, length) };
}

function decodeKnown(code: number, value: Reader): Capability | undefined {
  try {
    const capability = decoders.get(code)?.(value);
    return value.remaining === 0 ? capability : undefined;
  } catch (error) {
    if (error instanceof OverrunError) return undefined;
    throw error;
  }
}

/** Writes one capability: code, length, value. */
export function writeCapability(writer: Writer, capability: Capability): void {
  writer.u8(capability.name === 'unknown' ? capability.code : capabilityCodecs[capability.name].code);
  const length = writer.reserve8();
  writeValue(writer, capability);
  writer.patch8(length);
}

function writeValue(writer: Writer, capability: Capability): void {
  switch (capability.name) {
    case 'multiprotocol':
      capabilityCodecs.multiprotocol.encode(writer, capability);
      break;
    case 'graceful-restart':
      capabilityCodecs['graceful-restart'].encode(writer, capability);
      break;
    case 'four-octet-as':
      capabilityCodecs['four-octet-as'].encode(writer, capability);
      break;
    case 'add-path':
      capabilityCodecs['add-path'].encode(writer, capability);
      break;
    case 'bfd-authentication':
      capabilityCodecs['bfd-authentication'].encode(writer, capability);
      break;
    case 'unknown':
      writer.bytes(capability.value);
      break;
    case 'route-refresh':
    case 'enhanced-route-refresh':
    case 'extended-message':
      break;
    default:
      capability satisfies never;
  }
}
