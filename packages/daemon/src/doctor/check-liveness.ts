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
  /** Whether packets of BFD are authenticated: `agreed` until the first valid one has come. Undefined without BFD. */
  readonly authentication: string | undefined;
  /** How long the BGP session has been Established, in milliseconds. */
  readonly sinceMs: number;
}

/** Milliseconds in which a packet of BFD comes from a neighbor that has the same key, however slow its timers are. */
const CONFIRMATION_TIME = 30_000;

/** By what the death of the other end of a session would be noticed: BFD, or the hold timer alone. Pure. */
export function checkLiveness(session: EstablishedSession): Finding {
  const { check, place, value, bfd, holdTime } = session;
  if (bfd === 'Up') return isUnconfirmed(session) ? unconfirmed(session) : good(check, place, value);
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

function isUnconfirmed({ authentication, sinceMs }: EstablishedSession): boolean {
  return authentication === 'agreed' && sinceMs > CONFIRMATION_TIME;
}

/** Until a valid packet comes, those without authentication are taken too. */
function unconfirmed({ check, place, value }: EstablishedSession): Finding {
  return warning(
    check,
    place,
    `${value}, BFD Up; authentication of BFD was agreed on and no valid packet has come: a forged one can end the session of BFD`,
    'compare passwordFile on both sides: both have to have the same first password',
  );
}
