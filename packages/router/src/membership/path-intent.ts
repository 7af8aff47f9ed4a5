import { type Asn, type PathAttributes, WellKnownCommunity } from '@bgp-lb/protocol';
import type { Intent } from '../pool/member-view.ts';

/** First local part of the large community by which a speaker says which cluster it is of, one for each CA key. */
const IDENTITY = 1;
/** First local part of the large community by which a speaker says why it asks for less. */
const REASON = 2;
const DRAINING = 1;
/** A CA bundle has two or three keys while one is replaced; a path may have thousands of communities. */
const MOST_IDENTITIES = 16;

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
  return own(attributes, localAsn, REASON)[0] === DRAINING
    ? { intent: 'draining', why: 'its speaker is draining' }
    : { intent: 'last-resort', why: 'its speaker says that its API server is not ready' };
}

/** Which cluster a path's speaker says that it is of: hashes of its CA keys. Empty when it does not. */
export function pathIdentities(attributes: PathAttributes, localAsn: Asn): number[] {
  return own(attributes, localAsn, IDENTITY).slice(0, MOST_IDENTITIES);
}

function own({ largeCommunities = [] }: PathAttributes, localAsn: Asn, meaning: number): number[] {
  return largeCommunities
    .filter((one) => one.globalAdministrator === localAsn && one.localData1 === meaning)
    .map(({ localData2 }) => localData2);
}
