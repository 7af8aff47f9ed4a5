import type { CodecContext } from '../context.ts';
import type { FaultAction } from '../errors.ts';
import type { NlriField } from '../nlri-field.ts';
import type { Aggregator, AsPathSegment, MpReach, MpUnreach, PathAttributes } from '../path-attributes.ts';
import type { Reader } from '../reader.ts';
import type { Writer } from '../writer.ts';

/** Attribute Flags (RFC 4271 section 4.3). */
export const AttributeFlag = {
  Optional: 0x80,
  Transitive: 0x40,
  Partial: 0x20,
  ExtendedLength: 0x10,
} as const;

export const WELL_KNOWN: number = AttributeFlag.Transitive;
export const OPTIONAL_TRANSITIVE: number = AttributeFlag.Optional | AttributeFlag.Transitive;
export const OPTIONAL_NON_TRANSITIVE: number = AttributeFlag.Optional;

/** Everything that attributes of one UPDATE can say, by the name of its field. */
export interface AttributeValues extends Omit<PathAttributes, 'unknown' | 'partial' | 'linkLocalNextHop'> {
  readonly mpReach: MpReach | undefined;
  readonly mpUnreach: MpUnreach | undefined;
  readonly as4Path: readonly AsPathSegment[] | undefined;
  readonly as4Aggregator: Aggregator | undefined;
}

/** The same as it is read: the routes of the two multiprotocol attributes stay octets. */
export interface ReadValues extends Omit<AttributeValues, 'mpReach' | 'mpUnreach'> {
  readonly mpReach: MpReach<NlriField> | undefined;
  readonly mpUnreach: MpUnreach<NlriField> | undefined;
}

/** Where a codec says that it left out something that was not malformed. */
export interface DiscardNotes {
  discarded(code: number, subcode: number, reason: string): void;
}

/** One path attribute: its facts, and how its value is read (`Read`, where that differs) and written. Flags, code and length are the business of the TLV loop. */
export interface AttributeCodec<T, Read = T> {
  /** Attribute Type Code, as IANA assigns it. */
  readonly code: number;
  /** Name in the RFC that defines it. */
  readonly name: string;
  /** The Optional and Transitive bits that it must have. */
  readonly flags: number;
  /** What RFC 7606 makes of a malformed one. */
  readonly onMalformed: FaultAction;
  /** What is made of wrong flags; RFC 7606 section 3 (c) says treat-as-withdraw where the attribute's own rules say nothing. */
  readonly onWrongFlags: FaultAction;
  /** Subcode of RFC 4271 section 6.3 for a length that makes no sense. */
  readonly lengthSubcode: number;
  /** Only internal peers may send it; we send it to none but them. */
  readonly isInternalOnly?: true;
  /**
   * Reads the value from a reader that holds nothing else; octets left over make it malformed.
   * `undefined`: there is nothing to keep, and `notes` was told why.
   * @throws AttributeError, OverrunError, NlriError when malformed.
   */
  decode(reader: Reader, context: CodecContext, notes: DiscardNotes): Read | undefined;
  encode(writer: Writer, value: T, context: CodecContext): void;
}
