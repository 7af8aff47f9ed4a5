import type { Negotiated } from './negotiate.ts';

/** Who opened a connection: we (`active`), or the peer (`passive`). */
type Opener = 'active' | 'passive';

/** A connection of a peer; `successor` is one that the peer opened while a session was established on its `passive` one. */
export type Role = Opener | 'successor';

/**
 * Which of two connections between the same two speakers stays (RFC 4271 section 6.8): the one that the speaker with the
 * higher BGP Identifier opened, with equal identifiers the one with the higher AS number (RFC 6286 section 2.3).
 * Both sides come to the same answer.
 */
export function survivingRole({ context, localOpen, remoteOpen }: Negotiated): Opener {
  const ours = localOpen.bgpIdentifier;
  const theirs = remoteOpen.bgpIdentifier;
  if (ours !== theirs) return ours > theirs ? 'active' : 'passive';
  return context.localAsn > context.peerAsn ? 'active' : 'passive';
}
