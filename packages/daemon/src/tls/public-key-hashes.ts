import { createHash, X509Certificate } from 'node:crypto';

/** A text that should be a bundle of PEM certificates and is not. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** More certificates than any cluster has; the file may be another's mistake. */
const MAX_CERTIFICATES = 64;

/** The certificates of a PEM bundle, in order. Text between them (RFC 7468 section 2) is skipped. Throws `CertificateError`. */
export function parseCertificates(pemBundle: string): X509Certificate[] {
  const blocks = pemBundle.match(CERTIFICATE) ?? [];
  const begins = pemBundle.match(/-----BEGIN CERTIFICATE-----/g)?.length ?? 0;
  if (blocks.length === 0 && begins === 0) {
    const isEmpty = pemBundle.trim() === '';
    throw new CertificateError(
      `${isEmpty ? 'the text is empty' : 'no PEM certificate'}; allowed: PEM certificates (RFC 7468)`,
    );
  }
  if (blocks.length !== begins) throw new CertificateError('a PEM certificate is cut short');
  if (blocks.length > MAX_CERTIFICATES) {
    throw new CertificateError(`${blocks.length} certificates; allowed: at most ${MAX_CERTIFICATES}`);
  }
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      throw new CertificateError(`certificate ${index + 1} of ${blocks.length} cannot be decoded`, {
        cause: error,
      });
    }
  });
}

/** SHA-256 of the DER SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7) of a certificate, lower-case hex: kubeadm's `sha256:` form. */
export function publicKeyHash(certificate: X509Certificate): string {
  return createHash('sha256')
    .update(certificate.publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}

/** `publicKeyHash` of each certificate of a PEM bundle, in order. Throws `CertificateError`. */
export function publicKeyHashes(pemBundle: string): string[] {
  return parseCertificates(pemBundle).map((certificate) => publicKeyHash(certificate));
}
