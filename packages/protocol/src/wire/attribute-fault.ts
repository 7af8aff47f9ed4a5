/** What was wrong with an attribute of a received UPDATE, and what was done about it (RFC 7606 section 2). */
export interface AttributeFault {
  /** Attribute type code; 0 when the fault is in no attribute: the fields of RFC 4271 section 4.3, or the framing of attributes. */
  readonly code: number;
  readonly action: 'attribute-discard' | 'treat-as-withdraw';
  /** UPDATE Message Error subcode that RFC 4271 section 6.3 would have answered with; 0 where it names none. */
  readonly subcode: number;
  /** One sentence for the log. */
  readonly reason: string;
}
