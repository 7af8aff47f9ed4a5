import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it, vi } from 'vitest';
import { type KeyPair, makeAuthority, sign } from '../testing/test-certificates.ts';
import { verifyPeer } from './peer-verification.ts';

const authority = makeAuthority('kubernetes');
const other = makeAuthority('kubernetes');
const good = sign(authority, { altNames: 'DNS:kubernetes' });
const renewed = sign(authority, { altNames: 'DNS:kubernetes' });

/** A connection whose server showed these certificates, and what OpenSSL said of them. */
function shown(chain: readonly KeyPair[], code: string | null = null): TLSSocket {
  const certificates = chain.map(({ cert }) => ({ raw: Buffer.from(new X509Certificate(cert).raw) }));
  const [leaf] = certificates.map((certificate, index) => ({
    ...certificate,
    issuerCertificate: certificates[index + 1] ?? certificate,
  }));
  return { authorizationError: code, getPeerCertificate: () => leaf ?? {} } as unknown as TLSSocket;
}

describe('the verdict on a server', () => {
  it('is not made again for the same evidence, and the chain not asked for', () => {
    const verdict = verifyPeer(shown([good]), authority.cert, 'kubernetes');
    expect(verdict).toMatchObject({ isVerified: true, warnings: [] });
    const again = shown([good]);
    const asked = vi.spyOn(again, 'getPeerCertificate');
    expect(verifyPeer(again, authority.cert, 'kubernetes')).toBe(verdict);
    expect(asked.mock.calls).toEqual([[]]);
  });

  it('is made for each change of what it depends on, whatever was said before', () => {
    const verdict = verifyPeer(shown([good]), authority.cert, 'kubernetes');
    const code = 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY';
    expect(verifyPeer(shown([good], code), authority.cert, 'kubernetes').fault?.code).toBe(code);
    expect(verifyPeer(shown([good], 'CERT_HAS_EXPIRED'), authority.cert, 'kubernetes').warnings).toHaveLength(
      1,
    );
    expect(verifyPeer(shown([good], 'CERT_HAS_EXPIRED'), other.cert, 'kubernetes').isVerified).toBe(false);
    expect(verifyPeer(shown([good]), authority.cert, 'another').fault?.code).toBe(
      'ERR_TLS_CERT_ALTNAME_INVALID',
    );
    expect(verifyPeer(shown([good]), authority.cert, 'another', true).isVerified).toBe(true);
    expect(verifyPeer(shown([good]), undefined, 'kubernetes').isVerified).toBe(false);
    const next = verifyPeer(shown([renewed]), authority.cert, 'kubernetes');
    expect(next.leaf?.fingerprint256).toBe(new X509Certificate(renewed.cert).fingerprint256);
    expect(verifyPeer(shown([good]), authority.cert, 'kubernetes')).toBe(verdict);
  });

  it('is remembered of the last ones only', () => {
    const verdict = verifyPeer(shown([good]), authority.cert, 'kubernetes');
    for (let n = 0; n < 64; n += 1) verifyPeer(shown([good]), authority.cert, `host-${n}`);
    expect(verifyPeer(shown([good]), authority.cert, 'kubernetes')).not.toBe(verdict);
  });
});
