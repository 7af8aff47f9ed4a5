import type { CodecContext } from './message.ts';
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

/** Remembers what fields were read as; `undefined` where it does not know. */
export interface AttributeMemory {
  recall(field: AttributeOctets): PathAttributes | undefined;
}

/** True when the same octets mean the same attributes in both contexts, faults of RFC 7606 included; MP_REACH_NLRI aside. */
export function readsAttributesAlike(a: CodecContext, b: CodecContext): boolean {
  return (
    a === b ||
    (a.asn4 === b.asn4 &&
      a.isInternal === b.isInternal &&
      a.peerAsn === b.peerAsn &&
      (a.enforceFirstAs ?? true) === (b.enforceFirstAs ?? true))
  );
}
