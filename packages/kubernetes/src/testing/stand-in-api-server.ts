/**
 * A strict stand-in of a kube-apiserver: it answers what is documented (Kubernetes API concepts), refuses with 400 what a real one
 * would ignore or misread, and fails in the ways that tests ask for. Writes are in object-writes.ts.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AccessRule, isAllowed, rulesOf } from './access-rules.ts';
import { type ApiRequest, apiRequest } from './api-request.ts';
import { type HistoryEvent, isWithin, ObjectHistory, StatusError } from './object-history.ts';
import { APPLY, ObjectWrites, type ResourceDefinition } from './object-writes.ts';
import { answerJson, bodyOf, refuse, status } from './responses.ts';

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
  /** `list`, `watch`, or another verb of RBAC. */
  readonly kind: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly token: string;
}

/** The verbs that change something. */
const WRITES = new Set(['create', 'update', 'patch', 'delete']);

interface OpenWatch {
  readonly path: string;
  readonly name: string | undefined;
  readonly label: string | undefined;
  readonly response: ServerResponse;
}

export interface StandInOptions {
  readonly key: string;
  readonly cert: string;
  /** Objects of a page at most, whatever `limit` says. */
  readonly pageSize?: number;
}

const LIST_KEYS = new Set(['fieldSelector', 'labelSelector', 'limit', 'continue']);
const WATCH_KEYS = new Set([
  'fieldSelector',
  'labelSelector',
  'watch',
  'allowWatchBookmarks',
  'resourceVersion',
  'timeoutSeconds',
]);

export class StandInApiServer {
  readonly #options: StandInOptions;
  readonly #history = new ObjectHistory();
  readonly #writes = new ObjectWrites(this.#history);
  readonly #rights = new Map<string, readonly Right[]>();
  readonly #rules = new Map<string, readonly AccessRule[]>();
  /** Service accounts by the tokens that they were given. */
  readonly #accounts = new Map<string, { readonly namespace: string; readonly name: string }>();
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
      this.#answer(request, response).catch((error: unknown) => refuse(response, error));
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

  /** What a token may do by rules of RBAC, beside what `allow` says. */
  allowRules(token: string, rules: readonly AccessRule[]): void {
    this.#rules.set(token, rules);
  }

  /** A kind with its schema, as a CustomResourceDefinition says it. */
  define(definition: ResourceDefinition): void {
    this.#writes.define(definition);
  }

  /** Requests so far that change something, refused ones included. */
  get written(): readonly AskedRequest[] {
    return this.#asked.filter(({ kind }) => WRITES.has(kind));
  }

  /** An object as it is now. @param path of the collection */
  object(path: string, name: string): Readonly<Record<string, unknown>> | undefined {
    return this.#history.list(path, name)[0];
  }

  /** All objects of a collection. */
  objects(path: string): readonly Readonly<Record<string, unknown>>[] {
    return this.#history.list(path, undefined);
  }

  /** Writes as a client with every right would. @throws StatusError */
  write(method: string, path: string, body?: unknown, contentType = 'application/merge-patch+json'): void {
    const request = apiRequest(method, path, false);
    if (request === undefined) throw new Error(`${path} names no resource`);
    const query = { fieldManager: 'test', force: 'true' };
    const { events } = this.#writes.write({ ...request, query, contentType, body });
    for (const event of events) this.#send(event);
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

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(incoming.url ?? '', 'https://x');
    const query = Object.fromEntries(searchParams);
    const isWatch = query['watch'] === 'true';
    const token = incoming.headers.authorization?.match(/^Bearer (\S+)$/)?.[1] ?? '';
    const request = apiRequest(incoming.method ?? '', pathname, isWatch);
    const isRead = request?.verb === 'list' || request?.verb === 'watch';
    const name = isRead ? strictQuery(query, isWatch) : request?.name;
    this.#asked.push({ kind: request?.verb ?? 'discover', path: pathname, query, token });
    this.#wake();
    if (this.#mode === 'hang') return;
    if (typeof this.#mode === 'number') throw new StatusError(this.#mode, 'Asked', 'as the test asked for');
    if (request === undefined) {
      this.#discover(pathname, token, response);
      return;
    }
    this.#authorize(token, pathname, request, name);
    if (isWatch) this.#watch(pathname, name, query, response);
    else if (isRead) this.#list(pathname, name, query, response);
    else await this.#object(incoming, request, query, response);
  }

  async #object(
    incoming: IncomingMessage,
    request: ApiRequest,
    query: Readonly<Record<string, string>>,
    response: ServerResponse,
  ): Promise<void> {
    if (request.verb === 'get') {
      answerJson(response, 200, this.#writes.get(request));
      return;
    }
    const contentType = incoming.headers['content-type'] ?? '';
    const text = await bodyOf(incoming);
    const body: unknown = text === '' ? {} : JSON.parse(text);
    if (request.subresource === 'token') {
      answerJson(response, 201, this.#newToken(request));
      return;
    }
    if (
      request.subresource === 'status' &&
      contentType !== APPLY &&
      request.verb !== 'update' &&
      request.verb !== 'patch'
    )
      throw new StatusError(405, 'MethodNotAllowed', 'status');
    const { object, events, status: code } = this.#writes.write({ ...request, query, contentType, body });
    answerJson(response, code, object);
    for (const event of events) this.#send(event);
  }

  /** TokenRequest. */
  #newToken({ namespace = '', name = '' }: ApiRequest): object {
    const token = `token-${this.#accounts.size}-${namespace}-${name}`;
    this.#accounts.set(token, { namespace, name });
    return {
      kind: 'TokenRequest',
      status: { token, expirationTimestamp: new Date(Date.now() + 3_600_000).toISOString() },
    };
  }

  #discover(path: string, token: string, response: ServerResponse): void {
    if (!this.#isKnown(token)) throw new StatusError(401, 'Unauthorized', 'Unauthorized');
    const [, group = '', version] = path.match(/^\/apis\/([^/]+)(?:\/([^/]+))?$/) ?? [];
    const all = this.#writes.definitions(group);
    const [first] = all;
    if (first === undefined) throw new StatusError(404, 'NotFound', `${path} is not here`);
    const resources = all
      .filter((one) => one.version === version)
      .map(({ plural, kind }) => ({ name: plural, kind, namespaced: true, verbs: ['get', 'list', 'watch'] }));
    answerJson(
      response,
      200,
      version === undefined
        ? { kind: 'APIGroup', name: group, preferredVersion: { version: first.version } }
        : { kind: 'APIResourceList', resources },
    );
  }

  #isKnown(token: string): boolean {
    return this.#rights.has(token) || this.#rules.has(token) || this.#accounts.has(token);
  }

  #authorize(token: string, path: string, request: ApiRequest, name: string | undefined): void {
    if (!this.#isKnown(token)) throw new StatusError(401, 'Unauthorized', 'Unauthorized');
    // resourceNames count for list and watch only where the request names the object (RBAC, "Referring to resources").
    const isRead = request.verb === 'list' || request.verb === 'watch';
    const hasRight = (this.#rights.get(token) ?? []).some(
      (right) => isRead && right.path === path && (right.name === undefined || right.name === name),
    );
    const account = this.#accounts.get(token);
    const rules = [
      ...(this.#rules.get(token) ?? []),
      ...(account === undefined
        ? []
        : rulesOf(account, (collection) => this.#history.list(collection, undefined))),
    ];
    if (!hasRight && !isAllowed(rules, request, name))
      throw new StatusError(403, 'Forbidden', `the user cannot ${request.verb} resource at ${path}`);
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
    const all = this.#history.list(path, name).filter((one) => hasLabel(one, query['labelSelector']));
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
    const watch = { path, name, label: query['labelSelector'], response };
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

  #sendTo({ path, name, label, response }: OpenWatch, { type, object, ...event }: HistoryEvent): void {
    const { metadata } = object as { readonly metadata: { readonly name: string } };
    const isNamed = name === undefined || metadata.name === name;
    const isMeant = isWithin(event.path, path) && isNamed && hasLabel(object, label);
    if (isMeant && this.#mode !== 'mute') response.write(`${this.#body({ type, object })}\n`);
  }

  #body(value: unknown): string {
    const body = this.#raw ?? JSON.stringify(value);
    this.#raw = undefined;
    return body;
  }
}

/** Selectors are `KEY` alone here: that the label is there. */
function hasLabel({ metadata }: Readonly<Record<string, unknown>>, selector: string | undefined): boolean {
  const { labels } = metadata as { readonly labels?: object };
  return selector === undefined || Object.hasOwn(labels ?? {}, selector);
}

/** @returns the name of the field selector @throws StatusError for what no request should say */
function strictQuery(query: Readonly<Record<string, string>>, isWatch: boolean): string | undefined {
  const known = isWatch ? WATCH_KEYS : LIST_KEYS;
  const unknown = Object.keys(query).filter((key) => !known.has(key));
  if (unknown.length > 0) throw new StatusError(400, 'BadRequest', `unknown: ${unknown.join()}`);
  if (isWatch) {
    const seconds = Number(query['timeoutSeconds']);
    if (!(Number.isInteger(seconds) && seconds >= 300 && seconds <= 600))
      throw new StatusError(400, 'BadRequest', `timeoutSeconds ${query['timeoutSeconds']}`);
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
