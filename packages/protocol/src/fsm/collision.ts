import type { Negotiated } from './negotiate.ts';

/** Who opened a connection: we (`active`), or the peer (`passive`). */
export type Role = 'active' | 'passive';

/**
 * Which of two connections between the same two speakers stays (RFC 4271 section 6.8): the one that the speaker with the
 * higher BGP Identifier opened, with equal identifiers the one with the higher AS number (RFC 6286 section 2.3).
 * Both sides come to the same answer.
 */
export function survivingRole({ context, localOpen, remoteOpen }: Negotiated): Role {
  const ours = localOpen.bgpIdentifier;
  const theirs = remoteOpen.bgpIdentifier;
  if (ours !== theirs) return ours > theirs ? 'active' : 'passive';
  return context.localAsn > context.peerAsn ? 'active' : 'passive';
}
