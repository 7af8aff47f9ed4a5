/**
 * A strict stand-in of a kube-apiserver for list and watch: it answers what is documented (Kubernetes API concepts), refuses with
 * 400 what a real one would ignore or misread, and fails in the ways that tests ask for.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type HistoryEvent, ObjectHistory, StatusError } from './object-history.ts';

/** A right of a token: list and watch of a collection, or of one object of it (`resourceNames`). */
export interface Right {
  readonly path: string;
  readonly name?: string | undefined;
}

/**
 * `good`; `hang`: requests are never answered; `mute`: watches begin, and hear nothing more; `no-watch`: watches are cut at once;
 * a number: each request is refused with it.
 */
export type ApiServerMode = 'good' | 'hang' | 'mute' | 'no-watch' | number;

export interface AskedRequest {
  readonly kind: 'list' | 'watch';
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly token: string;
}

interface OpenWatch {
  readonly path: string;
  readonly name: string | undefined;
  readonly response: ServerResponse;
}

export interface StandInOptions {
  readonly key: string;
  readonly cert: string;
  /** Objects of a page at most, whatever `limit` says. */
  readonly pageSize?: number;
}

const LIST_KEYS = new Set(['fieldSelector', 'limit', 'continue']);
const WATCH_KEYS = new Set([
  'fieldSelector',
  'watch',
  'allowWatchBookmarks',
  'resourceVersion',
  'timeoutSeconds',
]);

export class StandInApiServer {
  readonly #options: StandInOptions;
  readonly #history = new ObjectHistory();
  readonly #rights = new Map<string, readonly Right[]>();
  readonly #watches = new Set<OpenWatch>();
  readonly #asked: AskedRequest[] = [];
  #server: Server | undefined;
  #wake: () => void = () => undefined;
  #mode: ApiServerMode = 'good';
  #raw: string | undefined;

  constructor(options: StandInOptions) {
    this.#options = options;
  }

  /** All requests so far that were understood. */
  get asked(): readonly AskedRequest[] {
    return this.#asked;
  }

  get watches(): number {
    return this.#watches.size;
  }

  get url(): string {
    const address = this.#server?.address();
    if (typeof address !== 'object' || address === null) throw new Error('the server does not listen');
    return `https://127.0.0.1:${address.port}`;
  }

  async listen(port = 0, host = '127.0.0.1'): Promise<void> {
    const server = createServer(this.#options, (request, response) => {
      try {
        this.#answer(request, response);
      } catch (error) {
        refuse(response, error);
      }
    });
    server.on('tlsClientError', () => undefined);
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  /** What a token may do from now on; without this it is refused with 401. */
  allow(token: string, rights: readonly Right[] | undefined): void {
    if (rights === undefined) this.#rights.delete(token);
    else this.#rights.set(token, rights);
  }

  setMode(mode: ApiServerMode): void {
    this.#mode = mode;
  }

  /** The next answer with status 200 has this body instead of the right one. */
  answerOnce(body: string): void {
    this.#raw = body;
  }

  put(path: string, name: string, object: Readonly<Record<string, unknown>>): void {
    this.#send(this.#history.put(path, name, object));
  }

  delete(path: string, name: string): void {
    this.#send(this.#history.delete(path, name));
  }

  /** Forgets old versions. */
  compact(): void {
    this.#history.compact();
  }

  /** Sends a line to each watch. */
  sendRaw(line: string): void {
    for (const { response } of this.#watches) response.write(`${line}\n`);
  }

  bookmark(): void {
    const metadata = { resourceVersion: String(this.#history.version), creationTimestamp: null };
    this.sendRaw(
      JSON.stringify({ type: 'BOOKMARK', object: { kind: 'Object', apiVersion: 'v1', metadata } }),
    );
  }

  /** Ends each watch: in order, by a cut connection, or by an ERROR event. */
  endWatches(how: 'end' | 'cut' | 410): void {
    for (const watch of [...this.#watches]) {
      this.#watches.delete(watch);
      const { response } = watch;
      if (how === 'cut') response.destroy();
      else
        response.end(
          how === 410
            ? `${JSON.stringify({ type: 'ERROR', object: status(410, 'Expired', 'too old') })}\n`
            : '',
        );
    }
  }

  /** Resolves when a look at the server succeeds; it is repeated with each request. */
  async until<T>(look: () => T | undefined | false): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined && found !== false) return found;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://x');
    const query = Object.fromEntries(searchParams);
    const isWatch = query['watch'] === 'true';
    const token = request.headers.authorization?.match(/^Bearer (\S+)$/)?.[1] ?? '';
    const name = strictQuery(request.method, query, isWatch);
    this.#asked.push({ kind: isWatch ? 'watch' : 'list', path: pathname, query, token });
    this.#wake();
    if (this.#mode === 'hang') return;
    if (typeof this.#mode === 'number') throw new StatusError(this.#mode, 'Asked', 'as the test asked for');
    this.#authorize(token, pathname, name);
    if (isWatch) this.#watch(pathname, name, query, response);
    else this.#list(pathname, name, query, response);
  }

  #authorize(token: string, path: string, name: string | undefined): void {
    const rights = this.#rights.get(token);
    if (rights === undefined) throw new StatusError(401, 'Unauthorized', 'Unauthorized');
    // resourceNames count for list and watch only where the request names the object (RBAC, "Referring to resources").
    const isAllowed = rights.some(
      (right) => right.path === path && (right.name === undefined || right.name === name),
    );
    if (!isAllowed) throw new StatusError(403, 'Forbidden', `the user cannot list resource at ${path}`);
  }

  #list(
    path: string,
    name: string | undefined,
    query: Readonly<Record<string, string>>,
    response: ServerResponse,
  ): void {
    const [version, offset] = (query['continue'] ?? `${this.#history.version}:0`).split(':').map(Number);
    if (version === undefined || offset === undefined) throw new StatusError(400, 'BadRequest', 'continue');
    this.#history.since(version);
    const all = this.#history.list(path, name);
    const size = Math.min(Number(query['limit'] ?? Number.MAX_SAFE_INTEGER), this.#options.pageSize ?? 500);
    const end = offset + size;
    const metadata = {
      resourceVersion: String(version),
      ...(end < all.length ? { continue: `${version}:${end}`, remainingItemCount: all.length - end } : {}),
    };
    response.setHeader('content-type', 'application/json');
    response.end(this.#body({ kind: 'List', apiVersion: 'v1', metadata, items: all.slice(offset, end) }));
  }

  #watch(
    path: string,
    name: string | undefined,
    query: Readonly<Record<string, string>>,
    response: ServerResponse,
  ): void {
    const past = this.#history.since(Number(query['resourceVersion']));
    response.setHeader('content-type', 'application/json');
    if (this.#mode === 'no-watch') {
      response.destroy();
      return;
    }
    response.flushHeaders();
    const watch = { path, name, response };
    this.#watches.add(watch);
    response.once('close', () => {
      this.#watches.delete(watch);
      this.#wake();
    });
    for (const event of past) this.#sendTo(watch, event);
  }

  #send(event: HistoryEvent): void {
    for (const watch of this.#watches) this.#sendTo(watch, event);
  }

  #sendTo({ path, name, response }: OpenWatch, { type, object, ...event }: HistoryEvent): void {
    const { metadata } = object as { readonly metadata: { readonly name: string } };
    const isMeant = event.path === path && (name === undefined || metadata.name === name);
    if (isMeant && this.#mode !== 'mute') response.write(`${this.#body({ type, object })}\n`);
  }

  #body(value: unknown): string {
    const body = this.#raw ?? JSON.stringify(value);
    this.#raw = undefined;
    return body;
  }
}

/** @returns the name of the field selector @throws StatusError for what no request should say */
function strictQuery(
  method: string | undefined,
  query: Readonly<Record<string, string>>,
  isWatch: boolean,
): string | undefined {
  if (method !== 'GET') throw new StatusError(405, 'MethodNotAllowed', `${method}`);
  const known = isWatch ? WATCH_KEYS : LIST_KEYS;
  const unknown = Object.keys(query).filter((key) => !known.has(key));
  if (unknown.length > 0) throw new StatusError(400, 'BadRequest', `unknown: ${unknown.join()}`);
  if (isWatch) {
    const seconds = Number(query['timeoutSeconds']);
    if (!(Number.isInteger(seconds) && seconds >= 300 && seconds <= 600)) {
      throw new StatusError(400, 'BadRequest', `timeoutSeconds ${query['timeoutSeconds']}`);
    }
    if (!/^\d+$/.test(query['resourceVersion'] ?? ''))
      throw new StatusError(400, 'BadRequest', 'resourceVersion');
    if (query['allowWatchBookmarks'] !== 'true') throw new StatusError(400, 'BadRequest', 'no bookmarks');
  } else if (!/^[1-9]\d*$/.test(query['limit'] ?? '')) throw new StatusError(400, 'BadRequest', 'limit');
  const { fieldSelector } = query;
  if (fieldSelector === undefined) return undefined;
  const name = fieldSelector.match(/^metadata\.name=([a-z0-9.-]+)$/)?.[1];
  if (name === undefined)
    throw new StatusError(400, 'BadRequest', `field label not supported: ${fieldSelector}`);
  return name;
}

function status(code: number, reason: string, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
}

function refuse(response: ServerResponse, error: unknown): void {
  const { code, reason, message } =
    error instanceof StatusError ? error : new StatusError(500, 'InternalError', String(error));
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(status(code, reason, message)));
}
