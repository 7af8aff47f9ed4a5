import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { certificateCredential, credentialState, tokenCredential } from './credential.ts';
import { servingCertificate } from './testing/serving-certificate.ts';

function jwt(claims: unknown): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part(claims)}.c2ln`;
}

describe('a credential', () => {
  it('of a JWT says when it began and when it ends', () => {
    const credential = tokenCredential(jwt({ iat: 1_000, exp: 4_600 }));
    expect(credential).toEqual({ kind: 'token', issuedAt: 1_000, expiresAt: 4_600 });
    expect(tokenCredential(jwt({ nbf: 1_000, exp: 4_600 })).issuedAt).toBe(1_000);
  });

  it('is ending when a fifth of its life is left', () => {
    const credential = tokenCredential(jwt({ iat: 1_000, exp: 2_000 }));
    const states = [1_000, 1_799, 1_800, 1_999, 2_000].map((now) => credentialState(credential, now));
    expect(states).toEqual(['good', 'good', 'ending', 'ending', 'expired']);
  });

  it('of a JWT without a beginning is ending in its last hour, and one without an end never', () => {
    const credential = tokenCredential(jwt({ exp: 10_000 }));
    expect([6_399, 6_400].map((now) => credentialState(credential, now))).toEqual(['good', 'ending']);
    expect(credentialState(tokenCredential(jwt({})), 1e12)).toBe('good');
    expect(credentialState(tokenCredential('abc123'), 1e12)).toBe('good');
  });

  it('of a certificate has its dates', () => {
    const { issuedAt = 0, expiresAt = 0 } = certificateCredential(servingCertificate('DNS:x').cert);
    expect(expiresAt - issuedAt).toBe(10 * 86_400);
    expect(certificateCredential('nonsense')).toEqual({ kind: 'certificate' });
  });

  it('never throws, whatever the token is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.jsonValue().map(jwt)), (token) => {
        expect(['good', 'ending', 'expired']).toContain(credentialState(tokenCredential(token), 1_000));
      }),
    );
  });
});
