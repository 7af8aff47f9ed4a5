import { X509Certificate } from 'node:crypto';

/** What a daemon shows the API server, as far as its life is known. */
export interface Credential {
  /** `none`: requests are anonymous. */
  readonly kind: 'token' | 'certificate' | 'none';
  /** Seconds since 1970; `undefined` for what does not say. */
  readonly issuedAt?: number | undefined;
  /** Seconds since 1970; `undefined` for what does not end, or does not say when. */
  readonly expiresAt?: number | undefined;
}

/** Share of its life that is left when a credential that others renew should have been renewed. kubelet renews at 80 %. */
const WARNING_SHARE = 0.2;
/** Seconds before its end at which a credential is ending that does not say when its life began. */
const WARNING_SECONDS = 3_600;

export type CredentialState = 'good' | 'ending' | 'expired';

/** @param now seconds since 1970 */
export function credentialState({ issuedAt, expiresAt }: Credential, now: number): CredentialState {
  if (expiresAt === undefined) return 'good';
  if (now >= expiresAt) return 'expired';
  const margin = issuedAt === undefined ? WARNING_SECONDS : (expiresAt - issuedAt) * WARNING_SHARE;
  return expiresAt - now <= margin ? 'ending' : 'good';
}

/** The credential of a bearer token: a JWT says when it ends (`exp`), other tokens do not. Its signature is not looked at. */
export function tokenCredential(token: string): Credential {
  const claims = jwtClaims(token);
  return {
    kind: 'token',
    issuedAt: numericDate(claims?.['iat']) ?? numericDate(claims?.['nbf']),
    expiresAt: numericDate(claims?.['exp']),
  };
}

/** The credential of a client certificate. @param pem the first certificate counts */
export function certificateCredential(pem: string | Buffer): Credential {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(pem);
  } catch {
    // What TLS makes of it is the error that is shown.
    return { kind: 'certificate' };
  }
  return {
    kind: 'certificate',
    issuedAt: certificate.validFromDate.getTime() / 1_000,
    expiresAt: certificate.validToDate.getTime() / 1_000,
  };
}

function jwtClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  const parts = token.split('.');
  if (parts.length !== 3) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(parts[1] ?? '', 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** A NumericDate of a year that a Date can hold. */
function numericDate(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 && value < 8.64e12 ? value : undefined;
}
