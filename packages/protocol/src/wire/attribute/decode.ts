import type { CodecContext } from '../context.ts';
import { AttributeError, OverrunError } from '../errors.ts';
import { NlriError } from '../nlri.ts';
import { UpdateSubcode } from '../notification-codes.ts';
import type { RawAttribute } from '../path-attributes.ts';
import type { Reader } from '../reader.ts';
import { as4Aggregator } from './as4-aggregator.ts';
import { as4Path } from './as4-path.ts';
import { AttributeFlag, OPTIONAL_TRANSITIVE } from './codec.ts';
import type { Faults } from './faults.ts';
import { updateError } from './faults.ts';
import { mpReach } from './mp-reach.ts';
import { mpUnreach } from './mp-unreach.ts';
import type { AttributeDraft, AttributeEntry } from './registry.ts';
import { attributeEntry } from './registry.ts';

/** Flags that must be as the attribute's specification says (RFC 7606 section 3 (c)). */
const JUDGED_FLAGS = AttributeFlag.Optional | AttributeFlag.Transitive;
const noUnknown: readonly RawAttribute[] = Object.freeze([]);

/** The path attributes of one UPDATE as they were sent. */
export interface DecodedAttributes {
  readonly values: AttributeDraft;
  readonly unknown: readonly RawAttribute[];
  /** As in `PathAttributes`. */
  readonly partial: readonly number[] | undefined;
  /** True when an attribute with this code was there, malformed or not. */
  seen(code: number): boolean;
  /** There is an attribute other than MP_UNREACH_NLRI, or octets that are none. */
  readonly hasOthers: boolean;
}

/**
 * Reads the Path Attributes field (RFC 4271 section 4.3) by the rules of RFC 7606 sections 3 and 4:
 *
 *     | flags (1) | type (1) | length (1, or 2 with Extended Length) | value | ...
 *
 * @throws NotificationError when a fault means a session reset.
 */
export function decodeAttributes(reader: Reader, context: CodecContext, faults: Faults): DecodedAttributes {
  const decoder = new AttributeDecoder(reader, context, faults);
  while (reader.remaining > 0) decoder.next();
  return decoder;
}

class AttributeDecoder implements DecodedAttributes {
  readonly values: AttributeDraft = {
    origin: undefined,
    asPath: undefined,
    nextHop: undefined,
    multiExitDisc: undefined,
    localPref: undefined,
    atomicAggregate: undefined,
    aggregator: undefined,
    communities: undefined,
    originatorId: undefined,
    clusterList: undefined,
    mpReach: undefined,
    mpUnreach: undefined,
    extendedCommunities: undefined,
    as4Path: undefined,
    as4Aggregator: undefined,
    largeCommunities: undefined,
  };
  partial: number[] | undefined;
  #unknown: RawAttribute[] | undefined;
  hasOthers = false;
  /** Bit n: code n was seen. */
  #seenLow = 0;
  /** Codes of 32 and more that were seen. */
  #seenHigh: number[] | undefined;
  readonly #reader: Reader;
  readonly #context: CodecContext;
  readonly #faults: Faults;

  constructor(reader: Reader, context: CodecContext, faults: Faults) {
    this.#reader = reader;
    this.#context = context;
    this.#faults = faults;
  }

  get unknown(): readonly RawAttribute[] {
    return this.#unknown ?? noUnknown;
  }

  seen(code: number): boolean {
    return code < 32 ? (this.#seenLow & (1 << code)) !== 0 : this.#seenHigh?.includes(code) === true;
  }

  #markSeen(code: number): void {
    if (code < 32) {
      this.#seenLow |= 1 << code;
      return;
    }
    this.#seenHigh ??= [];
    this.#seenHigh.push(code);
  }

  #markPartial(code: number): void {
    this.partial ??= [];
    this.partial.push(code);
  }

  /** Reads one attribute. Broken framing uses up the rest of the field. */
  next(): void {
    const reader = this.#reader;
    const start = reader.position;
    const flags = reader.u8();
    const isExtended = (flags & AttributeFlag.ExtendedLength) !== 0;
    if (reader.remaining < (isExtended ? 3 : 2)) {
      this.#truncated(start);
      return;
    }
    const code = reader.u8();
    const length = isExtended ? reader.u16() : reader.u8();
    if (code !== mpUnreach.code) this.hasOthers = true;
    if (length > reader.remaining) this.#overrun(code, length, start);
    else this.#value(code, flags, reader.sub(length), start);
  }

  #value(code: number, flags: number, value: Reader, start: number): void {
    if (this.seen(code)) {
      this.#repeated(code, start);
      return;
    }
    this.#markSeen(code);
    const known = attributeEntry(code);
    if (known === undefined) this.#keepUnknown(code, flags, value, start);
    else this.#decode(known, flags, value, start);
  }

  /** RFC 7606 section 4, second case: what is left is too short for an attribute. */
  #truncated(start: number): void {
    const reason = 'the last octets are too few for an attribute';
    this.hasOthers = true;
    this.#skipRest();
    this.#faults.report(0, 'treat-as-withdraw', UpdateSubcode.MalformedAttributeList, reason, () =>
      this.#octets(start),
    );
  }

  /** RFC 7606 section 4, first case. NLRI inside the attribute cannot be had then: section 3 (j). */
  #overrun(code: number, length: number, start: number): void {
    const reason = `type ${code}: length ${length} with ${this.#reader.remaining} octets left`;
    const carriesNlri = code === mpReach.code || code === mpUnreach.code;
    this.#markSeen(code);
    this.#skipRest();
    const action = carriesNlri ? 'session-reset' : 'treat-as-withdraw';
    this.#faults.report(code, action, UpdateSubcode.AttributeLengthError, reason, () => this.#octets(start));
  }

  #skipRest(): void {
    this.#reader.skip(this.#reader.remaining);
  }

  /** The octets from `start` to where the reader is now. */
  #octets(start: number): Uint8Array {
    return this.#reader.slice(start, this.#reader.position - start);
  }

  /** RFC 7606 section 3 (g): the first one counts; two fields of NLRI cannot both be meant. */
  #repeated(code: number, start: number): void {
    const isMp = code === mpReach.code || code === mpUnreach.code;
    const action = isMp ? 'session-reset' : 'attribute-discard';
    const reason = `${attributeEntry(code)?.name ?? `type ${code}`} appears more than once`;
    this.#faults.report(code, action, UpdateSubcode.MalformedAttributeList, reason, () =>
      this.#octets(start),
    );
  }

  /** RFC 4271 section 5: kept and marked Partial when transitive, else left out; not to know a well-known one is an error. */
  #keepUnknown(code: number, flags: number, value: Reader, start: number): void {
    if ((flags & AttributeFlag.Optional) === 0) {
      const reason = `type ${code} is not known, and not optional`;
      throw updateError(UpdateSubcode.UnrecognizedWellKnownAttribute, reason, this.#octets(start));
    }
    if ((flags & AttributeFlag.Transitive) === 0) {
      this.#faults.discarded(code, 0, `type ${code} is not known, and not transitive`);
      return;
    }
    this.#unknown ??= [];
    this.#unknown.push({
      code,
      flags: AttributeFlag.Optional | AttributeFlag.Transitive | AttributeFlag.Partial,
      value: value.bytes(value.remaining),
    });
  }

  #decode(entry: AttributeEntry, flags: number, value: Reader, start: number): void {
    if (((flags ^ entry.flags) & JUDGED_FLAGS) !== 0) {
      const reason = `${entry.name}: flags 0x${flags.toString(16)}`;
      const subcode = UpdateSubcode.AttributeFlagsError;
      this.#faults.report(entry.code, entry.onWrongFlags, subcode, reason, () => this.#octets(start));
      return;
    }
    if (entry.isInternalOnly === true && !this.#context.isInternal) {
      this.#faults.discarded(entry.code, 0, `${entry.name} from an external peer`);
      return;
    }
    try {
      entry.decodeInto(value, this.#context, this.#faults, this.values);
      if ((flags & AttributeFlag.Partial) !== 0 && isPassedOn(entry)) this.#markPartial(entry.code);
    } catch (error) {
      this.#faults.report(
        entry.code,
        entry.onMalformed,
        subcodeOf(error, entry),
        `${entry.name}: ${error instanceof Error ? error.message : ''}`,
        () => this.#octets(start),
      );
    }
  }
}

/** The AS4 attributes are not: they are made again for a peer that needs them. */
function isPassedOn({ code, flags }: AttributeEntry): boolean {
  return flags === OPTIONAL_TRANSITIVE && code !== as4Path.code && code !== as4Aggregator.code;
}

/** The subcode that goes with an error of a codec; anything but the three errors that codecs throw is a bug, and thrown on. */
function subcodeOf(error: unknown, entry: AttributeEntry): number {
  if (error instanceof AttributeError) return error.subcode;
  if (error instanceof OverrunError) return entry.lengthSubcode;
  if (error instanceof NlriError) return UpdateSubcode.OptionalAttributeError;
  throw error;
}
