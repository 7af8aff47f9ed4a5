import type { KeyObject, X509Certificate } from 'node:crypto';

/** What a peer makes us compute is out of bounds: see `certificateCost` and `MAX_HANDSHAKE_SIZE`. */
export const COSTLY_HANDSHAKE = 'ERR_COSTLY_HANDSHAKE';

/** Octets from a server until its handshake is done. Four certificates with RSA keys of 4096 bits take half of them. */
export const MAX_HANDSHAKE_SIZE: number = 16 * 1024;

/** The most certificates of a chain. */
export const MAX_CHAIN = 8;

/** Bits. As crypto/tls of Go, which serves and checks every certificate of Kubernetes, has it. */
const MAX_RSA_KEY = 8192;
/** Exponents above 32 bits have no use but to make each verification slow. */
const MAX_RSA_EXPONENT = 2n ** 32n;
const CURVES: ReadonlySet<string | undefined> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

/**
 * Why a chain costs more than a server's may, or undefined. OpenSSL has verified it once when this is asked: the server that showed it is
 * not to be asked again soon.
 */
export function certificateCost(chain: readonly X509Certificate[]): string | undefined {
  if (chain.length > MAX_CHAIN) return `its chain has more than ${MAX_CHAIN} certificates`;
  for (const certificate of chain) {
    const fault = keyCost(publicKeyOf(certificate));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function publicKeyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    return certificate.publicKey;
  } catch {
    return undefined;
  }
}

function keyCost(key: KeyObject | undefined): string | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key ?? {};
  switch (type) {
    case 'rsa':
    case 'rsa-pss': {
      const { modulusLength = Number.POSITIVE_INFINITY, publicExponent = MAX_RSA_EXPONENT } = details ?? {};
      if (modulusLength > MAX_RSA_KEY)
        return `an RSA key of ${modulusLength} bits is longer than ${MAX_RSA_KEY}`;
      return publicExponent < MAX_RSA_EXPONENT ? undefined : 'an RSA exponent is longer than 32 bits';
    }
    case 'ec':
      return CURVES.has(details?.namedCurve)
        ? undefined
        : `the curve ${details?.namedCurve ?? 'without a name'} is not P-256, P-384 or P-521`;
    case 'ed25519':
    case 'ed448':
      return undefined;
    default:
      return `a key of type ${type ?? 'unknown'} is not RSA, ECDSA or EdDSA`;
  }
}
