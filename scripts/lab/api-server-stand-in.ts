/**
 * The API server stand-in: what clients, probes and kubeadm see of a kube-apiserver, on one TLS port.
 *
 * `/readyz` follows the mode that was set. `/stream` (an HTTP upgrade) answers each line with the node's name for as
 * long as the connection lives. Objects are read and written by callers with a client certificate of the CA, and by
 * no other caller but for `cluster-info`, as kubeadm's RBAC has it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { createServer, type Server } from 'node:https';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import type { ApiServerState } from './api-server-config.ts';
import { isJsonObject, ObjectStore } from './object-store.ts';
import { type ApiServerMode, failureStatus, readinessAnswer } from './readiness.ts';
import { readBody } from './request-body.ts';

/** What the stand-in is started with. */
export interface ApiServerOptions {
  readonly nodeName: string;
  readonly port: number;
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
  /** The folder that stands for etcd. */
  readonly storeFolder: string;
  readonly mode: ApiServerMode;
  /** Milliseconds from `/readyz` turning red to the closed port: --shutdown-delay-duration, and 500 by default. */
  readonly shutdownDelay: number;
}

const clusterInfoPath = '/api/v1/namespaces/kube-public/configmaps/cluster-info';
const version = JSON.stringify({ major: '1', minor: '34', gitVersion: 'v1.34.1', platform: 'linux/lab' });
/** `/version?octets=N` is followed by so much white space. `/slow?ms=N` is `/version` after so many milliseconds, or a second after the port has closed: a request that is under way then. */
const slowPaths = new Set(['/version', '/slow']);
const publicPaths = new Set(['/livez', '/healthz', ...slowPaths, clusterInfoPath]);
/** The most white space, in octets. */
const mostSpace = 500_000;
/** How long requests in flight may take once the port is closed. A kube-apiserver gives them a minute. */
const inFlightLimit = 5_000;
/** Milliseconds that a connection of HTTP/2 without requests lives on after its GOAWAY, as with Go's net/http. */
const goAwayLinger = 1_000;
/** The longest that `/slow` takes, in milliseconds. */
const slowest = 60_000;
/** Milliseconds that it takes at most once the port has closed. */
const slowAfterClose = 1_000;

/** What `/readyz` takes in mode `slow`, in milliseconds. */
const slowReadiness = { least: 1_000, more: 2_000 };

/** One API server. */
export class ApiServer {
  readonly #options: ApiServerOptions;
  readonly #store: ObjectStore;
  readonly #streams = new Set<Duplex>();
  readonly #sessions = new Set<ServerHttp2Session>();
  #server: Server | undefined;
  #mode: ApiServerMode;
  #failing: readonly string[] = ['etcd'];
  #isStopping = false;
  #requests = 0;
  #inFlight = 0;
  #portClosed = new AbortController();

  constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#store = new ObjectStore(options.storeFolder);
    this.#mode = options.mode;
  }

  /** Opens the port, unless the mode is `closed`. */
  async start(): Promise<void> {
    if (this.#mode !== 'closed') await this.#open();
  }

  /** Changes the behaviour from the next request on. `failing` names the checks of `not-ready`. */
  async setMode(mode: ApiServerMode, failing: readonly string[] = ['etcd']): Promise<void> {
    this.#mode = mode;
    this.#failing = failing;
    if (mode === 'closed') this.#close();
    else await this.#open();
  }

  /** The port that is open; undefined while it is closed. With `port: 0` the kernel chooses it. */
  get port(): number | undefined {
    const address = this.#server?.address();
    return typeof address === 'object' ? address?.port : undefined;
  }

  /** What tests look at. */
  state(): ApiServerState {
    return {
      mode: this.#mode,
      isStopping: this.#isStopping,
      streams: this.#streams.size,
      inFlight: this.#inFlight,
      requests: this.#requests,
    };
  }

  /**
   * Stops as a kube-apiserver does on SIGTERM: `/readyz` red, then the port closed, then the requests in flight answered. What no
   * request is under way on ends: HTTP/1.1 at once, HTTP/2 when its client has heeded the GOAWAY or has had its time to.
   */
  async stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    await sleep(this.#options.shutdownDelay);
    const server = this.#server;
    this.#close();
    const end = performance.now() + inFlightLimit;
    while (this.#inFlight + this.#sessions.size > 0 && performance.now() < end) await sleep(10);
    for (const session of this.#sessions) session.destroy();
    for (const stream of this.#streams) stream.end();
    server?.closeAllConnections();
  }

  async #open(): Promise<void> {
    if (this.#server !== undefined || this.#isStopping) return;
    const { ca, certificate, key, port } = this.#options;
    const server = createServer(
      {
        ...{ ca, cert: certificate, key, requestCert: true, rejectUnauthorized: false },
        ALPNProtocols: ['h2', 'http/1.1'],
      },
      (incoming, answer) => {
        this.#answer(incoming, answer).catch(() => answer.destroy());
      },
    );
    this.#takeHttp2(server);
    server.on('upgrade', (incoming, socket, head) => this.#stream(incoming, socket, head));
    server.on('tlsClientError', () => undefined); // a client that does not trust us, or a bare port check
    this.#server = server;
    this.#portClosed = new AbortController();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port, host: '::', backlog: 4096 }, resolve);
    });
  }

  /** Connections that agreed on HTTP/2 (ALPN) get it, the others are left to the server. */
  #takeHttp2(server: Server): void {
    const http1 = server.listeners('secureConnection');
    server.removeAllListeners('secureConnection');
    server.on('secureConnection', (socket: TLSSocket) => {
      if (socket.alpnProtocol !== 'h2') {
        for (const listener of http1) Reflect.apply(listener, server, [socket]);
        return;
      }
      const session = performServerHandshake(socket);
      this.#sessions.add(session);
      session.once('close', () => this.#sessions.delete(session));
      session.on('error', () => undefined);
      session.on('stream', (stream, headers) => void this.#answerStream(stream, headers[':path']));
    });
  }

  /** What may be asked anonymously is enough for a client of HTTP/2. */
  async #answerStream(stream: ServerHttp2Stream, path: string | undefined): Promise<void> {
    this.#requests += 1;
    this.#inFlight += 1;
    stream.once('close', () => {
      this.#inFlight -= 1;
    });
    stream.on('error', () => undefined);
    if (this.#mode === 'hang') return;
    const url = new URL(path ?? '/', 'https://kubernetes');
    await this.#beSlow(url);
    if (stream.destroyed) return;
    const isKnown = slowPaths.has(url.pathname);
    stream.respond({ ':status': isKnown ? 200 : 404, 'content-type': 'application/json' });
    stream.end(isKnown ? version : '{}');
  }

  async #beSlow({ searchParams }: URL): Promise<void> {
    const wanted = Number(searchParams.get('ms') ?? 0);
    if (!(wanted > 0)) return;
    const { signal } = this.#portClosed;
    const isOver = await sleep(Math.min(wanted, slowest), true, { signal }).catch(() => false);
    if (!isOver) await sleep(slowAfterClose);
  }

  /** Closes the port and idle connections; HTTP/2 clients get a GOAWAY. Requests in flight and streams go on. */
  #close(): void {
    this.#portClosed.abort();
    for (const session of this.#sessions) goAway(session);
    this.#server?.close();
    this.#server = undefined;
  }

  async #answer(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    this.#requests += 1;
    this.#inFlight += 1;
    answer.once('close', () => {
      this.#inFlight -= 1;
    });
    if (this.#mode === 'hang') return; // TCP acknowledges, nothing answers
    const url = new URL(incoming.url ?? '/', 'https://kubernetes');
    answer.setHeader('content-type', 'application/json');
    if (url.pathname === '/readyz') {
      if (this.#mode === 'slow') await sleep(slowReadiness.least + Math.random() * slowReadiness.more);
      this.#answerReadiness(url.searchParams.has('verbose'), answer);
    } else if (!publicPaths.has(url.pathname) && !isAuthenticated(incoming)) {
      answer.statusCode = 403;
      answer.end(
        failureStatus(403, 'Forbidden', `User "system:anonymous" cannot ${incoming.method} ${url.pathname}`),
      );
    } else if (url.pathname === '/livez' || url.pathname === '/healthz') {
      answer.setHeader('content-type', 'text/plain');
      answer.end('ok');
    } else if (slowPaths.has(url.pathname)) {
      await this.#beSlow(url);
      answer.end(version + ' '.repeat(Math.min(Number(url.searchParams.get('octets') ?? 0), mostSpace)));
    } else {
      await this.#answerObject(url.pathname, incoming, answer);
    }
  }

  #answerReadiness(isVerbose: boolean, answer: ServerResponse): void {
    if (this.#mode === 'forbidden' || this.#mode === 'unauthorized') {
      const code = this.#mode === 'forbidden' ? 403 : 401;
      answer.statusCode = code;
      const reason = code === 403 ? 'Forbidden' : 'Unauthorized';
      answer.end(failureStatus(code, reason, 'User "system:anonymous" cannot get path "/readyz"'));
      return;
    }
    const failing = [
      ...(this.#mode === 'not-ready' ? this.#failing : []),
      ...(this.#isStopping ? ['shutdown'] : []),
    ];
    const { status, body } = readinessAnswer(failing, isVerbose);
    answer.setHeader('content-type', 'text/plain');
    answer.statusCode = status;
    answer.end(body);
  }

  async #answerObject(path: string, incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    if (incoming.method === 'GET') {
      const object = this.#store.get(path);
      answer.statusCode = object === undefined ? 404 : 200;
      answer.end(
        object === undefined ? failureStatus(404, 'NotFound', `${path} not found`) : JSON.stringify(object),
      );
      return;
    }
    const object: unknown = JSON.parse(await readBody(incoming));
    if (!isJsonObject(object)) throw new TypeError('an object is expected');
    const metadata = object['metadata'];
    // POST names the collection, and the object by its metadata; PUT and PATCH name the object.
    const name = isJsonObject(metadata) ? metadata['name'] : undefined;
    const target = incoming.method === 'POST' ? `${path}/${String(name)}` : path;
    const known = this.#store.get(target);
    if (incoming.method === 'POST' && known !== undefined) {
      answer.statusCode = 409;
      answer.end(failureStatus(409, 'AlreadyExists', `${target} already exists`));
      return;
    }
    this.#store.put(target, incoming.method === 'PATCH' ? { ...known, ...object } : object);
    answer.statusCode = incoming.method === 'POST' ? 201 : 200;
    answer.end(JSON.stringify(object));
  }

  #stream(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => this.#streams.delete(socket));
    if (this.#mode === 'hang') return;
    if (incoming.url !== '/stream') {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
      return;
    }
    this.#streams.add(socket);
    socket.once('close', () => this.#streams.delete(socket));
    socket.once('end', () => socket.end());
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n');
    socket.unshift(head); // lines that came together with the request
    socket.on('data', (chunk: Buffer) => {
      const lines = chunk.toString('latin1').split('\n').length - 1;
      if (lines > 0) socket.write(`${this.#options.nodeName}\n`.repeat(lines));
    });
  }
}

/** Says that no more requests are taken (RFC 9113 section 6.8). To close at once would reset what is on its way. */
function goAway(session: ServerHttp2Session): void {
  if (session.closed || session.destroyed) return;
  session.goaway();
  setTimeout(() => session.close(), goAwayLinger).unref();
}

function isAuthenticated(incoming: IncomingMessage): boolean {
  return incoming.socket instanceof TLSSocket && incoming.socket.authorized;
}
