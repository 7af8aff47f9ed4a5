import { createHmac, randomBytes } from 'node:crypto';
import type { BfdAuthenticationMode, BfdKey, Negotiated } from '../index.ts';

/** What this process puts into the keys of its BFD sessions: 16 random octets, for `PeerSettings.bfdAuthentication`. */
export function bfdNonce(): Uint8Array {
  return randomBytes(16);
}

/**
 * The key that both ends of a BGP session authenticate BFD with (ADR 24); `undefined` unless both have offered it. It is another one
 * when one of the two processes is, so that what was recorded of an earlier one is of no use.
 * @param password of the session (RFC 2385)
 */
export function negotiatedBfdKey(
  negotiated: Negotiated | undefined,
  password: string | undefined,
): BfdKey | undefined {
  const nonces = negotiated?.bfdAuthentication;
  if (nonces === undefined || password === undefined) return undefined;
  const sorted = [nonces.local, nonces.remote].sort(Buffer.compare);
  const digest = createHmac('sha256', password)
    .update('bgp-lb BFD key')
    .update(Buffer.concat(sorted))
    .digest();
  return { id: 0, secret: digest.subarray(0, 20) };
}

/** The key that a password of 1 to 20 octets is by itself, as BIRD has it (RFC 5880 section 6.7.4). */
export function configuredBfdKey(password: string, id: number): BfdKey {
  return { id, secret: Buffer.from(password) };
}

/** How BFD with a neighbor is to be authenticated. */
export interface BfdAuthenticationSettings {
  /** `auto`: by the key that the BGP session agrees on; `meticulous-keyed-sha1`: by the password itself. */
  readonly authentication: 'auto' | 'meticulous-keyed-sha1' | 'none';
  /** Auth Key ID of the password. */
  readonly keyId: number;
}

/**
 * The authentication of a BFD session with a neighbor; `undefined` for none.
 * @param password of the BGP session with that neighbor (RFC 2385)
 */
export function bfdAuthenticationOf(
  { authentication, keyId }: BfdAuthenticationSettings,
  password: string | undefined,
): BfdAuthenticationMode | undefined {
  if (authentication === 'none' || password === undefined) return undefined;
  if (authentication === 'auto') return { mode: 'negotiated' };
  return { mode: 'required', key: configuredBfdKey(password, keyId) };
}
