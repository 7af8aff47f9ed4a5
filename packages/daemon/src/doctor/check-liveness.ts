import { type Finding, good, warning } from './finding.ts';

/** An Established BGP session. */
export interface EstablishedSession {
  /** What the finding is called. */
  readonly check: string;
  readonly place: string;
  /** What good words say of it. */
  readonly value: string;
  /** State of BFD with the neighbor; `off` where it is not configured. */
  readonly bfd: string;
  /** Negotiated, in seconds; 0: none (RFC 4271 section 4.2). `null` while it is not known. */
  readonly holdTime: number | null;
}

/** By what the death of the other end of a session would be noticed: BFD, or the hold timer alone. Pure. */
export function checkLiveness({ check, place, value, bfd, holdTime }: EstablishedSession): Finding {
  if (bfd === 'Up') return good(check, place, value);
  const rests =
    holdTime === 0
      ? 'a silent death is never noticed: the hold time is 0'
      : `a silent death is noticed by the hold timer alone${holdTime === null ? '' : `, after ${holdTime} s`}`;
  if (bfd === 'off') return good(check, place, `${value}; BFD is not configured: ${rests}`);
  return warning(
    check,
    place,
    `${value}, BFD ${bfd}: ${rests}`,
    'configure BFD on the other side too, let UDP 3784 (4784 over more than one hop) pass both ways, or set `bfd: false` here',
  );
}
