import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { makeAuthority, sign } from '../testing/test-certificates.ts';
import { CertificateError, publicKeyHashes } from './public-key-hashes.ts';

const one = makeAuthority('one');
const two = makeAuthority('two');

/** The hash as kubeadm's documentation makes it with openssl. */
function hashByOpenssl(cert: string): string {
  const key = execFileSync('openssl', ['x509', '-pubkey', '-noout'], { input: cert });
  const der = execFileSync('openssl', ['pkey', '-pubin', '-outform', 'DER'], { input: key });
  return execFileSync('openssl', ['dgst', '-sha256', '-hex'], { input: der })
    .toString()
    .replace(/^.*= /, '')
    .trim();
}

describe('publicKeyHashes', () => {
  it('are those that openssl computes', () => {
    expect(publicKeyHashes(one.cert)).toEqual([hashByOpenssl(one.cert)]);
  });

  it('come in the order of the bundle, with text between the certificates skipped', () => {
    expect(publicKeyHashes(`# old\r\n${one.cert}\n# new\n${two.cert}`)).toEqual(
      [one, two].map(({ cert }) => hashByOpenssl(cert)),
    );
  });

  it('depend on the key, not on the certificate', () => {
    const leaf = sign(one, { altNames: 'DNS:a' });
    expect(publicKeyHashes(leaf.cert)).not.toEqual(publicKeyHashes(one.cert));
  });

  it.each([
    ['nothing', '', /the text is empty/],
    ['other text', 'hello', /no PEM certificate/],
    ['a key', one.key, /no PEM certificate/],
    ['half a certificate', one.cert.slice(0, 100), /cut short/],
    ['a certificate and half of another', one.cert + two.cert.slice(0, 100), /cut short/],
    [
      'rubbish between the lines',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      /certificate 1 of 1 cannot be decoded/,
    ],
    ['a bundle without end', one.cert.repeat(65), /65 certificates; allowed: at most 64/],
  ])('of %s throw a CertificateError', (_, text, message) => {
    expect(() => publicKeyHashes(text)).toThrow(CertificateError);
    expect(() => publicKeyHashes(text)).toThrow(message);
  });
});
