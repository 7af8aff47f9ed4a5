import { createHmac, randomBytes } from 'node:crypto';
import type { BfdKey, Negotiated } from '../index.ts';

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
