import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { ApiAccess, ApiServer } from './api-access.ts';
import { ApiError, errorText } from './api-error.ts';
import type { Clock } from './clock.ts';
import type { Credential } from './credential.ts';
import { isJsonObject } from './kubernetes-object.ts';
import { readText } from './read-text.ts';

/** Milliseconds within which a server has to begin its answer; then the next one is asked. */
const ANSWER_LIMIT = 10_000;
/** HTTP: the resourceVersion is older than what the API server remembers. */
const GONE = 410;
/** Octets of an answer that says no. */
const LONGEST_REFUSAL = 64 * 1024;
/** Octets of one object. An object of etcd has at most 1.5 MiB. */
const LONGEST_OBJECT = 8 << 20;
/** HTTP: below, the server has understood the request, and another one would say the same. */
const SERVER_ERROR = 500;

/** A request for one object. */
export interface ObjectRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly body?: object | undefined;
  /** Of the body; `application/json` by default. */
  readonly contentType?: string | undefined;
}

export interface ApiClientOptions {
  /** Reads the credentials as they are now; called for each request. */
  readonly open: () => ApiAccess | Promise<ApiAccess>;
  /** Servers besides those of the credentials, as they are known now. */
  readonly moreServers?: (() => readonly ApiServer[]) | undefined;
  readonly clock: Clock;
}

/** Requests to the first API server that answers. It stays with that one until it fails. */
export class ApiClient {
  readonly #options: ApiClientOptions;
  #server: string | undefined;
  #isDoubted = false;
  #credential: Credential | undefined;
  #opening: Promise<ApiAccess> | undefined;
  readonly #kept = new Agent({ keepAlive: true, maxSockets: 8 });

  constructor(options: ApiClientOptions) {
    this.#options = options;
  }

  /** URL of the server that answered last; `undefined` before the first answer. */
  get server(): string | undefined {
    return this.#server;
  }

  /** As it was read last. */
  get credential(): Credential | undefined {
    return this.#credential;
  }

  /**
   * GET. The servers are tried in turn until one answers with 200.
   * @returns the answer, with status 200 and its body to be read
   * @throws ApiError, or the reason of the signal
   */
  async get(
    path: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    // What is gone is so for all.
    return await this.#inTurnUntil(
      { method: 'GET', path, query },
      signal,
      (status) => status === GONE,
      undefined,
    );
  }

  /**
   * One request for one object, over a connection that is kept. A server that says no is believed: another one would say the same.
   * @returns what the server answers, as JSON
   * @throws ApiError, or the reason of the signal
   */
  async send(request: ObjectRequest, signal: AbortSignal): Promise<unknown> {
    const isAnswer = (status: number): boolean => status < SERVER_ERROR;
    const answer = await this.#inTurnUntil(request, signal, isAnswer, this.#kept);
    const text = await readText(answer, LONGEST_OBJECT, signal, 'keep');
    try {
      return JSON.parse(text);
    } catch {
      throw new ApiError('malformed', `the API server's answer is no JSON: ${text.slice(0, 40)}`);
    }
  }

  /** Ends the connections that are kept. */
  close(): void {
    this.#kept.destroy();
  }

  async #inTurnUntil(
    request: ObjectRequest,
    signal: AbortSignal,
    isFinal: (status: number) => boolean,
    agent: Agent | undefined,
  ): Promise<IncomingMessage> {
    const access = await untilAborted(this.#open(), signal);
    this.#credential = access.credential;
    const faults: string[] = [];
    let status: number | undefined;
    for (const server of this.#inTurn(access.servers)) {
      try {
        const answer = await this.#ask(server, access, request, signal, agent);
        [this.#server, this.#isDoubted] = [server.url, false];
        return answer;
      } catch (error) {
        signal.throwIfAborted();
        const own = error instanceof ApiError ? error.status : undefined;
        status = own ?? status;
        faults.push(`${server.url}: ${errorText(error)}`);
        // Another server that says no may be one of another cluster, and does not keep a watch from those that are right.
        if (own !== undefined && isFinal(own)) break;
      }
    }
    if (faults.length === 0) throw new ApiError('unreachable', 'no API server is configured or known');
    throw new ApiError(status === undefined ? 'unreachable' : 'refused', faults.join('; '), status);
  }

  /** What the server has begun to answer was of no use: the next request begins with the server after it. */
  doubt(): void {
    this.#isDoubted = true;
  }

  /** Read for each request; a program that gives credentials (`exec`) and hangs is not started a second time beside itself. */
  #open(): Promise<ApiAccess> {
    this.#opening ??= Promise.resolve(this.#options.open()).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** All servers once, that which answered last first, or last where it is doubted. */
  #inTurn(configured: readonly ApiServer[]): readonly ApiServer[] {
    const all = [...configured, ...(this.#options.moreServers?.() ?? [])];
    const once = all.filter(({ url }, index) => all.findIndex((one) => one.url === url) === index);
    const first = once.findIndex(({ url }) => url === this.#server);
    if (first < 0) return once;
    const begin = this.#isDoubted ? first + 1 : first;
    return [...once.slice(begin), ...once.slice(0, begin)];
  }

  async #ask(
    server: ApiServer,
    access: ApiAccess,
    request: ObjectRequest,
    signal: AbortSignal,
    agent: Agent | undefined,
  ): Promise<IncomingMessage> {
    const { clock } = this.#options;
    const limit = new AbortController();
    const stop = clock.after(ANSWER_LIMIT, () =>
      limit.abort(new Error(`no answer within ${ANSWER_LIMIT / 1_000} s`)),
    );
    try {
      const both = AbortSignal.any([signal, limit.signal]);
      const answer = await headOf(startRequest(server, access, request, agent), request.body, both);
      if (answer.statusCode === 200 || answer.statusCode === 201) {
        // The request's own end is the caller's from here on.
        signal.addEventListener('abort', () => answer.destroy(), { once: true });
        if (signal.aborted) answer.destroy();
        return answer;
      }
      const status = answer.statusCode ?? 0;
      const text = await readText(answer, LONGEST_REFUSAL, both).catch(() => '');
      throw new ApiError('refused', `${status}${refusalText(text)}`, status);
    } finally {
      stop();
    }
  }
}

function startRequest(
  { url, serverName }: ApiServer,
  access: ApiAccess,
  { method, path, query = {}, body, contentType = 'application/json' }: ObjectRequest,
  agent: Agent | undefined,
): ClientRequest {
  if (!URL.canParse(url)) throw new ApiError('unreachable', `not a URL; expected https://HOST:PORT`);
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol !== 'https:')
    throw new ApiError('unreachable', 'only https is used; anything else would show the credentials');
  const { tls, headers } = access;
  return httpsRequest({
    method,
    // An IPv6 address stands in brackets in a URL, and nowhere else.
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 443 : port,
    path: `${pathname.replace(/\/$/, '')}${path}?${new URLSearchParams(query)}`,
    headers: {
      accept: 'application/json',
      'user-agent': 'bgp-lb',
      ...(body === undefined ? {} : { 'content-type': contentType }),
      ...headers,
    },
    ...definedOnly({ ...tls, servername: serverName }),
    agent: tls.agent ?? agent ?? false,
  });
}

function definedOnly(options: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function headOf(
  request: ClientRequest,
  body: object | undefined,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      request.destroy();
      reject(signal.reason);
    };
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    request.once('response', (answer) => {
      signal.removeEventListener('abort', giveUp);
      // Errors of the body reach its reader; without one they are of no use.
      answer.on('error', () => undefined);
      resolve(answer);
    });
    request.on('error', (error) => {
      signal.removeEventListener('abort', giveUp);
      reject(error);
    });
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** What a Status object says, or the beginning of another answer. */
function refusalText(text: string): string {
  try {
    const status: unknown = JSON.parse(text);
    if (isJsonObject(status) && typeof status['message'] === 'string') return `: ${status['message']}`;
  } catch {
    // Not of an API server: something before it, whose text may say what it is.
  }
  return text === '' ? '' : `: ${text}`;
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason);
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
