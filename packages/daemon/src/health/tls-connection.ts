import { createConnection, isIP, type Socket } from 'node:net';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
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
  /** A connected or connecting socket, in place of a plain one. */
  readonly connect?: (() => Socket) | undefined;
}

const contexts = new Map<string, SecureContext>();

/** The TLS context of a CA bundle. It costs a millisecond, and the bundle seldom changes: the last few are kept. */
function contextFor(ca: string | undefined): SecureContext {
  const key = ca ?? '';
  const kept = contexts.get(key);
  if (kept !== undefined) return kept;
  if (ca !== undefined) parseCertificates(ca);
  const context = createSecureContext(ca === undefined ? {} : { ca });
  if (contexts.size >= 4) contexts.clear();
  contexts.set(key, context);
  return context;
}

/**
 * Opens a TLS connection and checks its certificate. `abort` ends it at any moment. Rejects with `ProbeFault`. With a CA, the CA is
 * the only root: the system's are not consulted.
 */
export function openTlsConnection(
  target: TlsTarget,
  ca: string | undefined,
  abort: AbortSignal,
): Promise<TlsConnection> {
  return new Promise((resolve, reject) => {
    const context = attempt('tls', () => contextFor(ca));
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
      socket.destroy();
      raw.destroy();
      reject(fault);
    };
    const failed = (error: NodeJS.ErrnoException): void => fail(connectionFault(error, isHandshake));
    raw.once('error', failed);
    socket.once('error', failed);
    socket.once('secureConnect', () => {
      try {
        const connection = checked(socket, ca, target.serverName);
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

function checked(socket: TLSSocket, ca: string | undefined, serverName: string): TlsConnection {
  const verification = verifyPeer(socket, ca, serverName);
  const certificate = describeCertificate(verification);
  if (verification.fault !== undefined) {
    throw new ProbeFault('tls', verification.fault.message, verification.fault.code, certificate);
  }
  return { socket, verification, certificate };
}

function describeCertificate(verification: PeerVerification): PeerCertificate | undefined {
  const { leaf } = verification;
  if (leaf === undefined) return undefined;
  return {
    subjectAltNames: subjectAltNames(leaf),
    validFrom: isoDate(leaf.validFrom),
    validTo: isoDate(leaf.validTo),
    ...(verification.issuerKeyHash === undefined ? {} : { issuerKeyHash: verification.issuerKeyHash }),
  };
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
