import { X509Certificate } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { Address6 } from 'ip-address';
import { COSTLY_HANDSHAKE, certificateCost, MAX_CHAIN } from './certificate-cost.ts';
import { parseCertificates, publicKeyHash } from './public-key-hashes.ts';

/** What a TLS server showed. */
export interface PeerVerification {
  /** The chain ends at the CA, and the name is there unless it is optional. */
  readonly isVerified: boolean;
  readonly leaf?: X509Certificate;
  /** Why it is not, with OpenSSL's or Node's code; absent without a CA, when nothing was asked. */
  readonly fault?: { readonly code: string; readonly message: string };
  /**
   * Faults that do not count: those of dates, since the clocks of machines that boot are not to be trusted, and a missing name
   * that is optional.
   */
  readonly warnings: readonly string[];
  readonly issuerKeyHash?: string;
}

const DATE_FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate has expired, or the clock is wrong',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet, or the clock is wrong',
};

/**
 * What a verdict depends on where OpenSSL had nothing to say against the certificate, or was asked nothing. Who signed it does not
 * change while the certificate is the same, and OpenSSL has looked at signatures and dates in this very handshake.
 */
interface Evidence {
  /** The server's own certificate, DER. */
  readonly leaf: Buffer;
  readonly ca: string | undefined;
  readonly serverName: string;
  readonly isNameOptional: boolean;
  /** KiB of the handshake: a known certificate above another chain is not known. */
  readonly size: number;
}

/**
 * A router asks each of its members by a new connection several times a second and is shown the same each time. To ask Node for
 * the whole chain takes longer than the rest of the handshake.
 */
const recent: { readonly evidence: Evidence; readonly verdict: PeerVerification }[] = [];
/** More pairs of a member and a VIP than most routers have. */
const MAX_RECENT = 64;
/** Octets of a certificate that is worth remembering. */
const MAX_REMEMBERED = 16 * 1024;

/**
 * Checks the certificate of a connected socket that was made with `rejectUnauthorized: false`. `ca` undefined asks nothing.
 * OpenSSL reports only the last of several faults, so a fault of dates may hide an unknown issuer: then the signatures are
 * checked again here. A verdict on the same evidence as before is the same object as before.
 */
export function verifyPeer(
  socket: Pick<TLSSocket, 'authorizationError' | 'getPeerCertificate'>,
  ca: string | undefined,
  serverName: string,
  isNameOptional = false,
  octets = 0,
): PeerVerification {
  const code = socket.authorizationError === null ? undefined : errorCode(socket.authorizationError);
  // Without a CA the fault is that there is none.
  const isSound = code === undefined || ca === undefined;
  const leaf: Buffer | undefined = isSound ? socket.getPeerCertificate().raw : undefined;
  const evidence =
    leaf === undefined ? undefined : { leaf, ca, serverName, isNameOptional, size: octets >> 10 };
  const known = evidence && recent.find((one) => isSameEvidence(one.evidence, evidence));
  if (known !== undefined) return known.verdict;
  const verdict = judge(presentedChain(socket), code, ca, serverName, isNameOptional);
  if (evidence !== undefined && evidence.leaf.length <= MAX_REMEMBERED) recent.push({ evidence, verdict });
  if (recent.length > MAX_RECENT) recent.shift();
  return verdict;
}

function isSameEvidence(a: Evidence, b: Evidence): boolean {
  return (
    a.serverName === b.serverName &&
    a.isNameOptional === b.isNameOptional &&
    a.size === b.size &&
    a.leaf.equals(b.leaf) &&
    a.ca === b.ca
  );
}

function judge(
  presented: readonly X509Certificate[],
  code: string | undefined,
  ca: string | undefined,
  serverName: string,
  isNameOptional: boolean,
): PeerVerification {
  const [leaf, next] = presented;
  if (leaf === undefined) {
    return { isVerified: false, fault: { code: 'NO_CERTIFICATE', message: 'no certificate' }, warnings: [] };
  }
  const cost = certificateCost(presented);
  if (cost !== undefined) {
    return { isVerified: false, fault: { code: COSTLY_HANDSHAKE, message: cost }, warnings: [], leaf };
  }
  const issuers = ca === undefined ? [] : parseCertificates(ca);
  const issuer = issuerOf(leaf, issuers) ?? next ?? issuerOf(leaf, [leaf]);
  const known = { leaf, ...(issuer === undefined ? {} : { issuerKeyHash: publicKeyHash(issuer) }) };
  if (ca === undefined) return { isVerified: false, warnings: [], ...known };

  const dateFault = code === undefined ? undefined : DATE_FAULTS[code];
  const warnings = dateFault === undefined ? [] : [dateFault];
  if (code !== undefined && (dateFault === undefined || !isSignedBy(presented, issuers))) {
    const shown = dateFault === undefined ? code : 'UNABLE_TO_VERIFY_LEAF_SIGNATURE';
    const message = `the certificate is not of the expected CA (${shown})`;
    return { isVerified: false, fault: { code: shown, message }, warnings, ...known };
  }
  if (!names(leaf, serverName)) {
    const message = `the certificate does not name ${serverName}`;
    if (isNameOptional) return { isVerified: true, warnings: [...warnings, message], ...known };
    return {
      isVerified: false,
      fault: { code: 'ERR_TLS_CERT_ALTNAME_INVALID', message },
      warnings,
      ...known,
    };
  }
  return { isVerified: true, warnings, ...known };
}

/** True when the subjectAltName extension has the name or address; the common name does not count (RFC 6125 section 6.4.4). */
function names(certificate: X509Certificate, serverName: string): boolean {
  if (isIP(serverName) !== 0) return certificate.checkIP(serverName) !== undefined;
  return certificate.checkHost(serverName, { subject: 'never' }) !== undefined;
}

/** Node's types say Error, its code gives the text of the code. */
function errorCode(error: unknown): string {
  if (error instanceof Error) return 'code' in error ? String(error.code) : error.message;
  return String(error);
}

function issuerOf(
  certificate: X509Certificate,
  candidates: readonly X509Certificate[],
): X509Certificate | undefined {
  return candidates.find(
    (candidate) =>
      candidate.ca && certificate.checkIssued(candidate) && certificate.verify(candidate.publicKey),
  );
}

/** True when the presented chain, dates aside, leads to one of the CAs by valid signatures. */
function isSignedBy(presented: readonly X509Certificate[], issuers: readonly X509Certificate[]): boolean {
  for (const [depth, current] of presented.entries()) {
    if (issuerOf(current, issuers) !== undefined) return true;
    const next = presented[depth + 1];
    if (next === undefined || issuerOf(current, [next]) === undefined) return false;
  }
  return false;
}

/**
 * The certificates that the server presented, its own first, and one more than a chain may have at most. By the older of Node's two ways to ask: with
 * `getPeerX509Certificate`, Node 24 keeps some 6 KiB for ever at each handshake with a server whose certificate a CA signed.
 */
function presentedChain(socket: Pick<TLSSocket, 'getPeerCertificate'>): X509Certificate[] {
  const chain: X509Certificate[] = [];
  // Without a certificate it is an empty object; the last of a whole chain is its own issuer.
  let current: Partial<DetailedPeerCertificate> | undefined = socket.getPeerCertificate(true);
  while (current?.raw !== undefined && chain.length <= MAX_CHAIN) {
    chain.push(new X509Certificate(current.raw));
    const issuer: DetailedPeerCertificate | undefined = current.issuerCertificate;
    current = issuer === current ? undefined : issuer;
  }
  return chain;
}

const ALT_NAME = /(DNS|IP Address|[A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/g;

/** The most names that are kept of a certificate. */
const MAX_NAMES = 256;

/** DNS names and IP addresses of a certificate's subjectAltName, in order. */
export function subjectAltNames(certificate: X509Certificate): string[] {
  const names: string[] = [];
  for (const [, type, value] of (certificate.subjectAltName ?? '').matchAll(ALT_NAME)) {
    if (value === undefined || names.length >= MAX_NAMES) continue;
    if (type === 'DNS') names.push(value);
    else if (type === 'IP Address') names.push(isIPv6(value) ? new Address6(value).correctForm() : value);
  }
  return names;
}
