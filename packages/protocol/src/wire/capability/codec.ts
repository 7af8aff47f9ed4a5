import type { Reader } from '../reader.ts';
import type { Writer } from '../writer.ts';
import type { Capability } from './capability.ts';

export type CapabilityName = Capability['name'];
export type CapabilityOf<Name extends CapabilityName> = Extract<Capability, { name: Name }>;

/** How one capability is read and written. Code and length are the business of `capabilities.ts`. */
export interface CapabilityCodec<Name extends CapabilityName> {
  readonly name: Name;
  /** Capability Code, as IANA assigns it. */
  readonly code: number;
  /**
   * Reads the value from a reader that holds nothing else; octets left over make it malformed.
   * `undefined` or an OverrunError: malformed, and kept as unknown.
   */
  decode(reader: Reader): CapabilityOf<Name> | undefined;
  encode(writer: Writer, capability: CapabilityOf<Name>): void;
}

/** A capability whose presence says all: its value is empty. */
export function flagCapability<Name extends CapabilityName>(
  name: Name,
  code: number,
  capability: CapabilityOf<Name>,
): CapabilityCodec<Name> {
  return { name, code, decode: () => capability, encode() {} };
}
