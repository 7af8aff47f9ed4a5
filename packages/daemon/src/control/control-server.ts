import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Logger } from 'pino';
import { http } from '../node-http.ts';
import { readJsonBody } from './body.ts';
import { builtInRoutes, type Readiness, type TextRegistry, wholeNumber } from './built-in-routes.ts';
import { ByteStreams } from './byte-streams.ts';
import { ConnectionLimit } from './connection-limit.ts';
import { ControlError, ControlReply, type ControlRoute, ControlStream, RouteTable } from './control-route.ts';
import type { EventLog } from './event-log.ts';
import { EventStreams, resumeAfter } from './event-stream.ts';
import { HostCheck } from './host-check.ts';
import { listenOnUnixSocket } from './unix-socket.ts';

/** What a control API is made of. */
export interface ControlServerOptions {
  /** Path of the Unix socket (mode 0600), where POST is answered too. */
  readonly socketPath: string;
  /** The TCP listener, which answers GET and HEAD only. Port 0 takes a free one. */
  readonly listen?: { readonly host: string; readonly port: number };
  /** Names beside the loopback ones that a `Host` header may have on the TCP listener; absent where none can be configured. */
  readonly allowedHosts?: readonly string[];
  readonly routes: readonly ControlRoute[];
  readonly metrics: TextRegistry;
  readonly events: EventLog;
  readonly logger: Logger;
  /** Answers `/readyz`; always ready when absent. */
  readonly readiness?: () => Readiness;
  /** Connections per listener, 64 by default: a new one takes the place of the one that has been idle for longest. */
  readonly maxConnections?: number;
  /** Event streams in all; 16 by default. Of other streams there are so many as well. */
  readonly maxStreams?: number;
  /** How long the headers of a request may take, in milliseconds; 5000 by default. */
  readonly headersTimeoutMs?: number;
  /** How long a whole request may take to arrive; 10000 by default. */
  readonly requestTimeoutMs?: number;
}

const MAX_CONNECTIONS = 64;
const HEADERS_TIMEOUT_MS = 5000;
const REQUEST_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 60_000;
const MAX_HEADER_SIZE = 8192;

const SECURITY_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

/** The HTTP API of a daemon, on a Unix socket for root and on a read-only TCP listener. */
export class ControlServer {
  readonly #options: ControlServerOptions;
  readonly #routes: RouteTable;
  readonly #streams: EventStreams;
  readonly #byteStreams: ByteStreams;
  readonly #hosts: HostCheck;
  readonly #sockets = new Set<Socket>();
  readonly #servers: Server[] = [];
  #tcp: Server | undefined;

  constructor(options: ControlServerOptions) {
    this.#options = options;
    this.#routes = new RouteTable([...options.routes, ...builtInRoutes(options)]);
    this.#hosts = new HostCheck(options.allowedHosts ?? []);
    const limit = options.maxStreams ?? 16;
    const onCut = (what: string) => (): void =>
      options.logger.warn(`${what} was cut off: its client reads too slowly`);
    this.#streams = new EventStreams({ log: options.events, limit, onCut: onCut('an event stream') });
    this.#byteStreams = new ByteStreams({ limit, onCut: onCut('a stream') });
  }

  /** The address of the TCP listener, once started. */
  get address(): AddressInfo | undefined {
    const address = this.#tcp?.address();
    return typeof address === 'object' && address !== null ? address : undefined;
  }

  /** Opens both listeners, or neither. Throws `UnixSocketError` or the error of bind(2). */
  async start(): Promise<void> {
    try {
      const local = this.#create(true);
      await listenOnUnixSocket(local, this.#options.socketPath);
      const { listen } = this.#options;
      if (listen !== undefined) {
        this.#tcp = this.#create(false);
        await listenOnTcp(this.#tcp, listen.host, listen.port);
      }
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Ends the streams and all connections, and closes the listeners. */
  async close(): Promise<void> {
    this.#streams.close();
    this.#byteStreams.close();
    const servers = this.#servers.splice(0);
    const closed = servers.map(
      (server) =>
        new Promise<void>((resolve) => {
          if (server.listening) server.close(() => resolve());
          else resolve();
        }),
    );
    for (const socket of this.#sockets) socket.destroySoon();
    for (const server of servers) server.closeIdleConnections();
    await Promise.all(closed);
  }

  #create(isLocal: boolean): Server {
    const limit = this.#options.maxConnections ?? MAX_CONNECTIONS;
    const connections = new ConnectionLimit(limit);
    const { headersTimeoutMs = HEADERS_TIMEOUT_MS, requestTimeoutMs = REQUEST_TIMEOUT_MS } = this.#options;
    const server = http.createServer(
      {
        maxHeaderSize: MAX_HEADER_SIZE,
        headersTimeout: headersTimeoutMs,
        requestTimeout: requestTimeoutMs,
        connectionsCheckingInterval: Math.min(1000, headersTimeoutMs),
        keepAliveTimeout: 5000,
        requireHostHeader: !isLocal,
      },
      (request, response) => {
        const { socket } = request;
        connections.answering(socket);
        response.once('close', () => connections.answered(socket));
        const isStreamed = (): void => connections.streaming(socket);
        this.#answer(request, response, isLocal, isStreamed).catch((error: unknown) =>
          this.#fail(request, response, error),
        );
      },
    );
    server.maxHeadersCount = 64;
    // Those that have been told to go are counted until they are gone.
    server.maxConnections = 2 * limit;
    server.setTimeout(IDLE_TIMEOUT_MS, (socket) => socket.destroy());
    server.on('connection', (socket) => {
      connections.add(socket);
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('clientError', answerClientError);
    server.on('error', (error) => this.#options.logger.error({ err: error }, 'control API listener failed'));
    this.#servers.push(server);
    return server;
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    isLocal: boolean,
    isStreamed: () => void,
  ): Promise<void> {
    if (!isLocal && !this.#hosts.accepts(request.headers.host, request.socket.localAddress)) {
      throw new ControlError(
        403,
        `the Host header names another host; allowed: localhost, loopback addresses and the address that was connected to${
          this.#options.allowedHosts === undefined ? '' : ', and the names in api.allowedHosts'
        }`,
      );
    }
    const url = URL.parse(request.url ?? '/', 'http://local');
    if (url === null || !(request.url ?? '').startsWith('/'))
      throw new ControlError(400, 'the path cannot be read');
    const method = request.method ?? 'GET';
    if (!isLocal && method !== 'GET' && method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      throw new ControlError(405, `${method} is possible on the Unix socket only`);
    }
    const match = this.#routes.match(method, url.pathname);
    if (match.kind === 'none') throw new ControlError(404, `there is nothing at ${url.pathname}`);
    if (match.kind === 'method') {
      response.setHeader(
        'Allow',
        match.allow.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one])).join(', '),
      );
      throw new ControlError(405, `${method} is not possible at ${url.pathname}`);
    }
    const query: Record<string, string> = Object.fromEntries(url.searchParams);
    if (match.route.path === '/api/v1/events' && method === 'GET' && wantsStream(request)) {
      this.#stream(request, response, query);
      isStreamed();
      return;
    }
    const body = method === 'POST' ? await readJsonBody(request) : undefined;
    const result = await match.route.handle({ params: match.params, query, body });
    if (!(result instanceof ControlStream)) {
      send(response, method, 200, result);
      return;
    }
    if (method === 'HEAD') throw new ControlError(405, 'HEAD is not possible for a stream');
    if (this.#byteStreams.isFull) throw tooMany(response, this.#byteStreams.size);
    this.#byteStreams.serve(response, result);
    isStreamed();
  }

  #stream(request: IncomingMessage, response: ServerResponse, query: Readonly<Record<string, string>>): void {
    if (this.#streams.isFull) throw tooMany(response, this.#streams.size);
    const lastEventId = request.headers['last-event-id'];
    const since = query['since'];
    if (typeof lastEventId === 'string') {
      this.#streams.serve(response, resumeAfter(this.#options.events, lastEventId));
    } else {
      this.#streams.serve(response, since === undefined ? undefined : wholeNumber('since', since));
    }
  }

  #fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    if (request.destroyed && !request.complete) {
      // The client went away within its request: there is no client to answer, and it is no fault of ours.
      response.destroy();
      return;
    }
    const known = error instanceof ControlError;
    if (!known) {
      const what = { err: error, method: request.method, url: request.url?.slice(0, 256) };
      this.#options.logger.error(what, 'control API handler failed');
    }
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const message = error instanceof Error ? error.message : String(error);
    // What is left of a refused request's body is not read, so the connection cannot be used again.
    if (!request.complete) response.setHeader('Connection', 'close');
    send(response, request.method ?? 'GET', known ? error.status : 500, { error: message });
  }
}

function tooMany(response: ServerResponse, count: number): ControlError {
  response.setHeader('Retry-After', '5');
  return new ControlError(503, `there are ${count} streams of this kind already, the most that are served`);
}

function listenOnTcp(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 64 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function wantsStream(request: IncomingMessage): boolean {
  return /\btext\/event-stream\b/.test(request.headers.accept ?? '');
}

function send(response: ServerResponse, method: string, status: number, result: unknown): void {
  const reply =
    result instanceof ControlReply
      ? result
      : new ControlReply('application/json; charset=utf-8', `${JSON.stringify(result ?? null)}\n`);
  const body = Buffer.from(reply.body);
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    'Content-Type': reply.contentType,
    'Content-Length': body.length,
    ...reply.headers,
  });
  response.end(method === 'HEAD' ? undefined : body);
}

const CLIENT_ERRORS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Answers what is not HTTP, or too much of it, and closes. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = CLIENT_ERRORS[error.code ?? ''] ?? '400 Bad Request';
  const body = JSON.stringify({ error: status.slice(4).toLowerCase() });
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
}
