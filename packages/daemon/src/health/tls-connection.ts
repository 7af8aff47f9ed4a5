import { constants } from 'node:crypto';
import { createConnection, isIP, type Socket } from 'node:net';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { COSTLY_HANDSHAKE, MAX_HANDSHAKE_SIZE } from '../tls/certificate-cost.ts';
import { type PeerVerification, subjectAltNames, verifyPeer } from '../tls/peer-verification.ts';
import { parseCertificates } from '../tls/public-key-hashes.ts';
import { kindOfErrno, type PeerCertificate, type ProbeKind } from './probe-result.ts';

/** A probe that ended before there was an answer. */
export class ProbeFault extends Error {
  override readonly name = 'ProbeFault';
  readonly kind: ProbeKind;
  readonly code: string | undefined;
  readonly certificate: PeerCertificate | undefined;

  constructor(kind: ProbeKind, message: string, code?: string, certificate?: PeerCertificate) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.certificate = certificate;
  }
}

/** A connection whose handshake is done and whose certificate passed. */
export interface TlsConnection {
  readonly socket: TLSSocket;
  readonly verification: PeerVerification;
  readonly certificate: PeerCertificate | undefined;
}

/** Where and how to connect. */
export interface TlsTarget {
  readonly address: string;
  readonly port: number;
  /** The name that the certificate must carry; also SNI unless it is an address (RFC 6066 section 3). */
  readonly serverName: string;
  /** When true, a certificate without the name is only a warning. */
  readonly isNameOptional?: (() => boolean) | undefined;
  /** A connected or connecting socket, in place of a plain one. */
  readonly connect?: (() => Socket) | undefined;
}

/** What one side of a connection is known by: PEM. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Whom to trust, and who we are. */
export interface TlsIdentity {
  /** A CA bundle (PEM), the only root; `undefined` verifies nothing. */
  readonly ca: string | undefined;
  readonly client: ClientCertificate | undefined;
}

/** Octets of a finite field group are the server's choice, and a prime of 10,000 bits keeps a processor for a second. */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES:!aNULL',
].join(':');
/** TLS 1.3 has finite fields too. The hybrid one came with OpenSSL 3.5, which sends a share of each that is marked. */
const ELLIPTIC = 'X25519:P-256:P-384:P-521';
const [MAJOR = 0, MINOR = 0] = process.versions.openssl.split('.').map(Number);
const GROUPS = MAJOR > 3 || (MAJOR === 3 && MINOR >= 5) ? `*X25519MLKEM768:*${ELLIPTIC}` : ELLIPTIC;

const contexts = new Map<string, SecureContext>();

/** The TLS context of an identity. It costs a millisecond, and files seldom change: the last few are kept. */
function contextFor({ ca, client }: TlsIdentity): SecureContext {
  const key = JSON.stringify([ca, client?.cert, client?.key]);
  const kept = contexts.get(key);
  if (kept !== undefined) return kept;
  if (ca !== undefined) parseCertificates(ca);
  const context = createSecureContext({
    ...(ca === undefined ? {} : { ca }),
    ...client,
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    ecdhCurve: GROUPS,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  });
  if (contexts.size >= 4) contexts.clear();
  contexts.set(key, context);
  return context;
}

/**
 * Opens a TLS connection and checks its certificate. `abort` ends it at any moment. Rejects with `ProbeFault`. With a CA, the CA is
 * the only root: the system's are not consulted. What the server may make us compute is bounded: key exchange by elliptic curves
 * alone, and a handshake that is too large, or whose keys are, is a fault with the code `COSTLY_HANDSHAKE`.
 */
export function openTlsConnection(
  target: TlsTarget,
  identity: TlsIdentity,
  abort: AbortSignal,
): Promise<TlsConnection> {
  return new Promise((resolve, reject) => {
    const context = attempt('tls', () => contextFor(identity));
    const raw = attempt('error', target.connect ?? (() => createConnection(target.port, target.address)));
    let isHandshake = !raw.connecting;
    raw.once('connect', () => {
      isHandshake = true;
    });
    const socket = connect({
      socket: raw,
      secureContext: context,
      servername: isIP(target.serverName) === 0 ? target.serverName : '',
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
      ALPNProtocols: ['http/1.1'],
    });
    const stop = (): void => fail(new ProbeFault('error', 'was stopped'));
    const fail = (fault: ProbeFault): void => {
      abort.removeEventListener('abort', stop);
      // Whatever the two sockets still say after this is no news.
      socket.on('error', () => undefined);
      raw.on('error', () => undefined);
      const { bytesRead } = raw;
      socket.destroy();
      raw.destroy();
      reject(bytesRead > MAX_HANDSHAKE_SIZE ? sizeFault(bytesRead) : fault);
    };
    const failed = (error: NodeJS.ErrnoException): void => fail(connectionFault(error, isHandshake));
    raw.once('error', failed);
    socket.once('error', failed);
    socket.once('secureConnect', () => {
      try {
        const connection = checked(socket, raw.bytesRead, identity.ca, target);
        abort.removeEventListener('abort', stop);
        raw.off('error', failed);
        socket.off('error', failed);
        raw.on('error', () => undefined);
        resolve(connection);
      } catch (error) {
        fail(error instanceof ProbeFault ? error : new ProbeFault('tls', messageOf(error)));
      }
    });
    abort.addEventListener('abort', stop);
    if (abort.aborted) stop();
  });
}

function attempt<T>(kind: ProbeKind, make: () => T): T {
  try {
    return make();
  } catch (error) {
    const code = codeOf(error);
    const byErrno = kindOfErrno(code);
    throw new ProbeFault(byErrno === 'error' ? kind : byErrno, messageOf(error), code);
  }
}

function sizeFault(octets: number): ProbeFault {
  const message = `the TLS handshake has ${octets} octets, more than ${MAX_HANDSHAKE_SIZE}`;
  return new ProbeFault('tls', message, COSTLY_HANDSHAKE);
}

function checked(
  socket: TLSSocket,
  octets: number,
  ca: string | undefined,
  { serverName, isNameOptional = () => false }: TlsTarget,
): TlsConnection {
  if (octets > MAX_HANDSHAKE_SIZE) throw sizeFault(octets);
  const verification = verifyPeer(socket, ca, serverName, isNameOptional(), octets);
  const certificate = describeCertificate(verification);
  if (verification.fault !== undefined) {
    throw new ProbeFault('tls', verification.fault.message, verification.fault.code, certificate);
  }
  return { socket, verification, certificate };
}

const descriptions = new WeakMap<PeerVerification, PeerCertificate>();

function describeCertificate(verification: PeerVerification): PeerCertificate | undefined {
  const { leaf } = verification;
  if (leaf === undefined) return undefined;
  const known = descriptions.get(verification);
  if (known !== undefined) return known;
  const description: PeerCertificate = {
    subjectAltNames: subjectAltNames(leaf),
    validFrom: isoDate(leaf.validFrom),
    validTo: isoDate(leaf.validTo),
    ...(verification.issuerKeyHash === undefined ? {} : { issuerKeyHash: verification.issuerKeyHash }),
  };
  descriptions.set(verification, description);
  return description;
}

function isoDate(text: string): string {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? text : date.toISOString();
}

/** The errno name or the TLS library's code of an error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is unreachable',
  EPIPE: 'the connection was closed',
};

/** Classifies what a socket failed with before or within the handshake, or later. */
export function connectionFault(error: NodeJS.ErrnoException, isHandshake: boolean): ProbeFault {
  const { code } = error;
  const kind = kindOfErrno(code);
  // EPROTO and ERR_SSL_*: the other side does not speak TLS, or refused the handshake by an alert.
  const isTls =
    code === 'EPROTO' || code?.startsWith('ERR_SSL') === true || code?.startsWith('ERR_TLS') === true;
  if (isTls) return new ProbeFault('tls', `the TLS handshake failed (${code})`, code);
  const words = (code === undefined ? undefined : WORDS[code]) ?? error.message;
  const where = isHandshake && kind === 'error' ? ' within the TLS handshake' : '';
  return new ProbeFault(kind, `${words}${where}`, code);
}
