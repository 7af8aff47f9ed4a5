/** Segments that the kernel of this host dropped for their TCP-MD5 signature since boot (RFC 2385). */
export interface SignatureCounters {
  readonly notFound: number;
  readonly unexpected: number;
  readonly failure: number;
}

/** Segments that were dropped for one cause. */
export interface DroppedSignatures {
  readonly count: number;
  /** `with a wrong signature` */
  readonly what: string;
  readonly cause: string;
  readonly fix: string;
}

/** A wrong password is silence on the wire, and shows in what the kernel counts alone: each cause that there was. Pure. */
export function droppedSignatures(counters: SignatureCounters): readonly DroppedSignatures[] {
  return [
    {
      count: counters.failure,
      what: 'with a wrong signature',
      cause: 'a neighbor has another password',
      fix: 'compare passwordFile on both sides',
    },
    {
      count: counters.notFound,
      what: 'without a signature',
      cause: 'a neighbor has no password',
      fix: 'set the same on both sides',
    },
    {
      count: counters.unexpected,
      what: 'with a signature that was not asked for',
      cause: 'a neighbor has a password that this router has not',
      fix: 'set the same on both sides',
    },
  ].filter(({ count }) => count > 0);
}
