import { createPublicKey, randomBytes } from 'node:crypto';

/** Octets of an object's DER: tag, length, contents. */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const body = Buffer.concat(contents);
  const { length } = body;
  let size = [length];
  if (length > 255) size = [0x82, length >> 8, length & 255];
  else if (length > 127) size = [0x81, length];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const sequence = (...contents: readonly Buffer[]): Buffer => der(0x30, ...contents);
const integer = (octets: Buffer): Buffer =>
  der(2, (octets[0] ?? 0) > 127 ? Buffer.from([0]) : Buffer.alloc(0), octets);
const identifier = (hex: string): Buffer => der(6, Buffer.from(hex, 'hex'));
const bits = (octets: Buffer): Buffer => der(3, Buffer.from([0]), octets);
const rsa = (oid: string): Buffer => sequence(identifier(oid), der(5));
const commonName = (text: string): Buffer =>
  sequence(der(0x31, sequence(identifier('550403'), der(12, Buffer.from(text)))));

/** An RSA public key that belongs to no private one: the work of verifying with it is the same. */
function rsaKey(length: number, exponent: Buffer): Buffer {
  const modulus = randomBytes(length / 8);
  modulus[0] = 0xff;
  modulus[modulus.length - 1] = 0xff;
  return sequence(rsa('2a864886f70d010101'), bits(sequence(integer(modulus), integer(exponent))));
}

interface Certificate {
  readonly subject: string;
  readonly issuer: string;
  readonly key: Buffer;
  readonly signature: Buffer;
  readonly isAuthority: boolean;
}

function pem({ subject, issuer, key, signature, isAuthority }: Certificate): string {
  const algorithm = rsa('2a864886f70d01010b');
  const constraints = der(4, sequence(der(1, Buffer.from([255]))));
  const dates = ['260101000000Z', '360101000000Z'].map((text) => der(0x17, Buffer.from(text)));
  const toBeSigned = sequence(
    der(0xa0, der(2, Buffer.from([2]))),
    integer(randomBytes(8)),
    algorithm,
    commonName(issuer),
    sequence(...dates),
    commonName(subject),
    key,
    ...(isAuthority
      ? [der(0xa3, sequence(sequence(identifier('551d13'), der(1, Buffer.from([255])), constraints)))]
      : []),
  );
  const text = sequence(toBeSigned, algorithm, bits(signature)).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${text.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
}

/**
 * A chain (PEM) that takes OpenSSL much work to find bad: below it a certificate of a true key, above it issuers with large RSA keys
 * that signed nothing.
 */
export function costlyChain(
  privateKey: string,
  issuers: number,
  given: { readonly length?: number; readonly exponent?: Buffer } = {},
): string {
  const { length = 16_384, exponent = Buffer.alloc(8, 0xff) } = given;
  const signature = Buffer.concat([Buffer.from([0]), randomBytes(length / 8 - 1)]);
  const own = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const chain = [pem({ subject: 'leaf', issuer: 'CA 0', key: own, signature, isAuthority: false })];
  for (let n = 0; n < issuers; n += 1) {
    const key = rsaKey(length, exponent);
    chain.push(pem({ subject: `CA ${n}`, issuer: `CA ${n + 1}`, key, signature, isAuthority: true }));
  }
  return chain.join('');
}
