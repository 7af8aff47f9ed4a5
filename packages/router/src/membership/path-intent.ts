import { type Asn, type PathAttributes, WellKnownCommunity } from '@bgp-lb/protocol';
import type { Intent } from '../pool/member-view.ts';

/** First local part of the large community by which a speaker says why it asks for less. */
const REASON = 2;
const DRAINING = 1;

/**
 * What a path's attributes ask for. GRACEFUL_SHUTDOWN or LOCAL_PREF 0 ask for as little as possible (RFC 8326
 * section 4); the large community `ASN:2:1` says that the member is draining, anything else that it is a last
 * resort. The LOCAL_PREF is not compared beyond that: a low one must not evict a live member.
 */
export function pathIntent(attributes: PathAttributes, localAsn: Asn): { intent: Intent; why: string } {
  const asksForLess =
    attributes.communities?.includes(WellKnownCommunity.GracefulShutdown) === true ||
    attributes.localPref === 0;
  if (!asksForLess) {
    return { intent: 'active', why: '' };
  }
  const reason = attributes.largeCommunities?.find(
    (community) => community.globalAdministrator === localAsn && community.localData1 === REASON,
  );
  return reason?.localData2 === DRAINING
    ? { intent: 'draining', why: 'its speaker is draining' }
    : { intent: 'last-resort', why: 'its speaker says that its API server is not ready' };
}
