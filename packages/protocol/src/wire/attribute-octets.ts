import type { CodecContext } from './context.ts';
import type { OctetSpan } from './octet-span.ts';
import type { PathAttributes } from './path-attributes.ts';

/**
 * The Path Attributes field of an UPDATE that announces routes of the NLRI field alone, and that has no fault: such a
 * field means the same whenever it comes again.
 */
export interface AttributeOctets {
  readonly octets: OctetSpan;
  readonly context: CodecContext;
}

/** Remembers what fields were read as. */
export interface AttributeMemory {
  /** The number of the set that such a field meant before, as long as it is held; -1 where it does not know. */
  recall(field: AttributeOctets): number;
  /** The set with this number. */
  at(number: number): PathAttributes;
}

/** A set that was recalled and not read: the number says which one, and the set is made when it is asked for. */
export interface RecalledAttributes {
  readonly memory: AttributeMemory;
  readonly number: number;
}

/** True when the same octets mean the same attributes in both contexts, faults of RFC 7606 included; MP_REACH_NLRI aside. */
export function readsAttributesAlike(a: CodecContext, b: CodecContext): boolean {
  return (
    a === b ||
    (a.asn4 === b.asn4 &&
      a.isInternal === b.isInternal &&
      a.peerAsn === b.peerAsn &&
      (a.enforceFirstAs ?? true) === (b.enforceFirstAs ?? true) &&
      (a.acceptAsSet ?? true) === (b.acceptAsSet ?? true))
  );
}
