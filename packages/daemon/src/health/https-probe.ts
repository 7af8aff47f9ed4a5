import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';
import { http } from '../node-http.ts';
import { printable } from '../output/printable.ts';
import { COSTLY_HANDSHAKE } from '../tls/certificate-cost.ts';
import { failingChecks, kindOfErrno, type ProbeKind, type ProbeResult } from './probe-result.ts';
import {
  type ClientCertificate,
  codeOf,
  connectionFault,
  openTlsConnection,
  ProbeFault,
  type TlsConnection,
  type TlsIdentity,
} from './tls-connection.ts';

/** What is probed, and how. */
export interface HttpsProbeOptions {
  readonly address: string;
  readonly port: number;
  /** The name that the certificate must carry, and SNI. */
  readonly serverName: string;
  /** Path of the GET, like `/readyz`. */
  readonly path: string;
  /** The CA bundle (PEM), asked for with each probe: it is the only root. Undefined: nothing is verified. */
  readonly ca?: () => string | undefined;
  /** Who we are to the server, asked for with each probe. Undefined: anonymous. */
  readonly clientCertificate?: () => ClientCertificate | undefined;
  /** When true, a certificate of the CA without `serverName` is a warning of the result, not a fault. Asked with each connection. */
  readonly isNameOptional?: () => boolean;
  /** The whole probe, from connecting to the last octet of the answer. */
  readonly timeoutMs: number;
  /** A connected or connecting socket of the caller's making, like one with SO_MARK. */
  readonly connect?: () => Socket;
  /** Keep the connection for the next probe. */
  readonly keepAlive: boolean;
}

/** More of an answer's body is an error: the health text of an API server has some 5 KiB. */
const MAX_BODY_SIZE = 64 * 1024;

const MAX_HEADER_SIZE = 16 * 1024;

/** Informational answers (RFC 9110 section 15.2) before the one that counts. A request without Expect has none to await. */
const MAX_INFORMATIONAL = 8;

/** How long a server whose handshake cost too much is not asked again (ms): its price is some 0.1 s of this thread. */
const COSTLY_HOLD_OFF = 30_000;

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Opens connections for `http.request` and remembers what the certificate of the current one said. */
class ProbeAgent extends http.Agent {
  readonly #open: () => Promise<TlsConnection>;
  /** A connection that was begun before one of them is not wanted any more. */
  #drops = 0;
  connection: TlsConnection | undefined;

  constructor(keepAlive: boolean, open: () => Promise<TlsConnection>) {
    super({ keepAlive, maxSockets: 1, maxFreeSockets: 1 });
    this.#open = open;
  }

  /** Closes the kept connection; the next request opens its own. */
  drop(): void {
    this.#drops += 1;
    this.destroy();
    this.connection = undefined;
  }

  override createConnection(
    _options: object,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    this.connection = undefined;
    const drops = this.#drops;
    // Node passes the error on and does not look at the stream; its type asks for one.
    const fail = (error: Error): unknown => Reflect.apply(callback ?? (() => undefined), undefined, [error]);
    this.#open().then((connection) => {
      if (drops !== this.#drops) {
        // Its handshake ended in the moment in which the probe did. The agent would keep it for a request that never comes.
        connection.socket.destroy();
        fail(new ProbeFault('error', 'was stopped'));
        return;
      }
      this.connection = connection;
      callback?.(null, connection.socket);
    }, fail);
    return undefined;
  }
}

/**
 * Asks an HTTPS server for its health over a kept connection, one probe at a time. Never rejects: every outcome is a
 * `ProbeResult`. Redirects are not followed.
 */
export class HttpsProbe {
  readonly #options: HttpsProbeOptions;
  readonly #agent: ProbeAgent;
  /** A request's headers, name and value in turns. */
  readonly #headers: readonly string[];
  #running: Promise<ProbeResult> | undefined;
  #isStopped = false;
  #connecting: AbortController | undefined;
  #request: ClientRequest | undefined;
  /** Ends the probe that runs, whatever the connection does. */
  #giveUp: (fault: ProbeFault) => void = () => undefined;
  /** The handshake that cost too much, and until when the server is not asked again. */
  #costly: { readonly fault: ProbeFault; readonly until: number } | undefined;
  #identity: TlsIdentity = { ca: undefined, client: undefined };
  #isClosed = false;

  constructor(options: HttpsProbeOptions) {
    this.#options = options;
    this.#headers = ['Host', hostHeader(options.serverName), 'User-Agent', 'bgp-lb', 'Accept', '*/*'];
    this.#agent = new ProbeAgent(options.keepAlive, () => this.#connect());
  }

  /** Starts a probe, or returns the one that runs. */
  probe(): Promise<ProbeResult> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Closes the kept connection; a probe that runs ends with `error`. */
  close(): void {
    this.#isClosed = true;
    this.#end(new ProbeFault('error', 'was stopped'));
    this.#agent.drop();
  }

  /** Ends the connection that is being made, or the request on one that is there, and the probe, which does not wait for either. */
  #end(fault: ProbeFault): void {
    this.#isStopped = true;
    this.#connecting?.abort();
    this.#request?.destroy(fault);
    this.#giveUp(fault);
  }

  async #connect(): Promise<TlsConnection> {
    if (this.#costly !== undefined && performance.now() < this.#costly.until) throw this.#costly.fault;
    this.#connecting = new AbortController();
    try {
      return await openTlsConnection(this.#options, this.#identity, this.#connecting.signal);
    } catch (error) {
      if (error instanceof ProbeFault && error.code === COSTLY_HANDSHAKE) {
        this.#costly = { fault: error, until: performance.now() + COSTLY_HOLD_OFF };
      }
      throw error;
    }
  }

  async #run(): Promise<ProbeResult> {
    const started = performance.now();
    this.#isStopped = this.#isClosed;
    const { timeoutMs } = this.#options;
    const ended = new Promise<never>((_resolve, reject) => {
      this.#giveUp = reject;
    });
    let expiry: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      // After a stall of ours the answer may be there and not read yet: timers come before that in a turn.
      expiry = setImmediate(() => {
        this.#end(new ProbeFault('timeout', `no complete answer within ${timeoutMs} ms`, 'ETIMEDOUT'));
      });
    }, timeoutMs);
    try {
      this.#refreshIdentity();
      const answer = await Promise.race([this.#ask(), ended]);
      return this.#result(started, describeAnswer(answer));
    } catch (error) {
      const result = this.#result(started, describeFault(error, this.#isClosed));
      // After a fault the connection is of no more use.
      this.#agent.drop();
      return result;
    } finally {
      clearTimeout(timer);
      clearImmediate(expiry);
      this.#giveUp = () => undefined;
    }
  }

  /** A connection that was checked against another bundle, or made under another identity, must not be used now. */
  #refreshIdentity(): void {
    const { ca, clientCertificate } = this.#options;
    const identity = { ca: ca?.(), client: clientCertificate?.() };
    const { client } = this.#identity;
    const isSame =
      identity.ca === this.#identity.ca &&
      identity.client?.cert === client?.cert &&
      identity.client?.key === client?.key;
    if (!isSame) this.#agent.drop();
    this.#identity = identity;
  }

  /**
   * One request. When a kept connection turns out to be closed before any answer, the request is made once more on a fresh one:
   * a server may close an idle connection at any time, which says nothing of its health, and the fresh connection is the proof.
   * A failure on a fresh connection is never tried again.
   */
  async #ask(): Promise<Answer> {
    try {
      return await this.#get();
    } catch (error) {
      if (!(error instanceof StaleConnection) || this.#isStopped) throw error;
      this.#agent.drop();
      return await this.#get();
    }
  }

  /** Made several times a second all day: no signal, stream iterator or headers of its own for each request. */
  #get(): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#isStopped) throw new ProbeFault('error', 'was stopped');
      const request = http.request({
        agent: this.#agent,
        method: 'GET',
        path: this.#options.path,
        headers: this.#headers,
        maxHeaderSize: MAX_HEADER_SIZE,
      });
      this.#request = request;
      let informational = 0;
      request.on('information', () => {
        informational += 1;
        if (informational > MAX_INFORMATIONAL) {
          request.destroy(new ProbeFault('error', `more than ${MAX_INFORMATIONAL} informational answers`));
        }
      });
      request.once('upgrade', ({ statusCode }, socket) => {
        socket.destroy();
        reject(
          new ProbeFault('error', `answered ${statusCode}, a change of protocol that was not asked for`),
        );
      });
      request.once('response', (response) => {
        readBody(response, (body) => resolve({ status: response.statusCode ?? 0, body }), reject);
      });
      // Later errors of the same request (its end follows its response's) are no news.
      request.on('error', (error) => reject(requestFault(request, error)));
      request.end();
    });
  }

  #result(started: number, outcome: Outcome): ProbeResult {
    const connection = this.#agent.connection;
    const certificate = outcome.certificate ?? connection?.certificate;
    return {
      ...outcome,
      tookMs: Math.round((performance.now() - started) * 1000) / 1000,
      isVerified: connection?.verification.isVerified ?? false,
      warnings: connection?.verification.warnings ?? [],
      ...(certificate === undefined ? {} : { certificate }),
    };
  }
}

type Outcome = Omit<ProbeResult, 'tookMs' | 'isVerified' | 'warnings'>;

/** The kept connection was closed before it answered. */
class StaleConnection extends ProbeFault {}

function requestFault(request: ClientRequest, error: NodeJS.ErrnoException): Error {
  if (error instanceof ProbeFault) return error;
  const isClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE';
  if (request.reusedSocket && isClosed) return new StaleConnection('error', error.message, error.code);
  return connectionFault(error, false);
}

function hostHeader(serverName: string): string {
  return serverName.includes(':') ? `[${serverName}]` : serverName;
}

function readBody(
  response: IncomingMessage,
  done: (body: string) => void,
  failed: (fault: ProbeFault) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (bytes: Buffer) => {
    size += bytes.length;
    if (size <= MAX_BODY_SIZE) chunks.push(bytes);
    else
      response.destroy(
        new ProbeFault('error', `the answer is larger than ${MAX_BODY_SIZE} octets`, 'EMSGSIZE'),
      );
  });
  response.once('end', () => done(Buffer.concat(chunks).toString('utf8')));
  response.once('error', (error) => {
    const isOurs = error instanceof ProbeFault;
    failed(isOurs ? error : new ProbeFault('error', 'the connection ended within the answer', codeOf(error)));
  });
}

function describeAnswer({ status, body }: Answer): Outcome {
  if (status === 200) return { kind: 'ok', status, detail: 'answered 200' };
  const failing = failingChecks(body);
  const kind: ProbeKind = status === 401 || status === 403 ? 'unauthorized' : 'status';
  const named = failing.length === 0 ? '' : `: ${printable(failing.slice(0, 8).join(', '))}`;
  return { kind, status, detail: `answered ${status}${named}`, ...(failing.length === 0 ? {} : { failing }) };
}

function describeFault(error: unknown, isClosed: boolean): Outcome {
  if (isClosed) return { kind: 'error', detail: 'the probe was closed', code: 'ECANCELED' };
  if (error instanceof ProbeFault) {
    return {
      kind: error.kind,
      detail: printable(error.message),
      ...(error.code === undefined ? {} : { code: error.code }),
      ...(error.certificate === undefined ? {} : { certificate: error.certificate }),
    };
  }
  const code = codeOf(error);
  const detail = printable(error instanceof Error ? error.message : String(error)).slice(0, 256);
  return { kind: kindOfErrno(code), detail, ...(code === undefined ? {} : { code }) };
}
