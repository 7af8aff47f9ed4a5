import { BfdDiagnostic } from '@bgp-lb/protocol';
import type { BfdStateChange } from '@bgp-lb/protocol/node';

/** Why a BFD session that left Up says nothing against the BGP session with its router, or that it does. */
export type BfdVerdict =
  | 'death'
  /** RFC 5882 section 4.2: taken down by its operator, or it was not Up. */
  | 'no-failure'
  /** There is no BGP session that could be ended. */
  | 'no-session'
  /** The router's BFD began anew, as a restarted process does. Its TCP connection tells what became of BGP. */
  | 'restarted'
  /** The silence began before the BGP session did: it is about an earlier process of the router. */
  | 'earlier-life';

/**
 * What a change of a BFD session says of its router. Pure.
 *
 * A router that is killed and back within the Detection Time has its new BGP session before BFD gives up the old
 * process: that must not end the new session.
 *
 * @param establishedAt when the BGP session came up, by `threadClock`; `undefined` while there is none
 */
export function judgeBfdChange(
  change: Pick<BfdStateChange, 'isFailure' | 'reason' | 'remoteDiagnostic' | 'lastReceivedAt'>,
  establishedAt: number | undefined,
): BfdVerdict {
  if (!change.isFailure) return 'no-failure';
  if (establishedAt === undefined) return 'no-session';
  // A peer that stops hearing us says so in its diagnostic; one that begins anew has none (RFC 5880 section 6.8.1).
  if (change.reason === 'peer-down' && change.remoteDiagnostic === BfdDiagnostic.None) return 'restarted';
  const isEarlier = change.lastReceivedAt === undefined || change.lastReceivedAt < establishedAt;
  return change.reason === 'detection-expired' && isEarlier ? 'earlier-life' : 'death';
}

const verdictText: Readonly<Record<BfdVerdict, string>> = {
  death: 'the BGP session is ended',
  'no-failure': '',
  'no-session': 'there is no BGP session',
  restarted: "the router's BFD began anew; the BGP session stays",
  'earlier-life': 'the silence began before the BGP session, which stays',
};

/** What is done about it, in words; empty when there is nothing to say. */
export function describeVerdict(verdict: BfdVerdict): string {
  return verdictText[verdict];
}
