import type { ClientRequest, IncomingMessage } from 'node:http';
import { http } from '../node-http.ts';

/** The control API cannot be asked, or refused. */
export class ControlClientError extends Error {
  override readonly name = 'ControlClientError';
  /** The HTTP status, when the daemon answered. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

const TIMEOUT_MS = 10_000;

/** Answers above this are refused. A full routing table fits. */
const MAX_ANSWER_SIZE = 64 * 1024 * 1024;

/** One event of a stream may not be longer. */
const MAX_EVENT_SIZE = 1024 * 1024;

/** Asks the daemon behind a Unix socket; returns the decoded JSON. Throws `ControlClientError`. */
export async function controlRequest(
  socketPath: string,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
): Promise<unknown> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const response = await send(socketPath, { method, path, payload, timeout: TIMEOUT_MS });
  const text = await readAll(response);
  const status = response.statusCode ?? 0;
  const isJson = (response.headers['content-type'] ?? '').includes('application/json');
  const answer: unknown = isJson ? parseJson(text) : text;
  if (status >= 200 && status < 300) return answer;
  throw new ControlClientError(errorText(answer) ?? `the daemon answered with status ${status}`, status);
}

/** What `controlEvents` hears. */
export interface ControlEventsOptions {
  /** Ends the stream; the promise then resolves. */
  readonly signal?: AbortSignal;
  /** Also the kept events after this sequence number: 0 for all. Without it, only new ones. */
  readonly since?: number;
}

/** Follows the events of a daemon until the stream ends. Throws `ControlClientError`. */
export async function controlEvents(
  socketPath: string,
  onEvent: (event: unknown) => void,
  options: ControlEventsOptions = {},
): Promise<void> {
  const path = options.since === undefined ? '/api/v1/events' : `/api/v1/events?since=${options.since}`;
  const { signal } = options;
  const response = await send(socketPath, { method: 'GET', path, accept: 'text/event-stream', signal });
  if (response.statusCode !== 200) {
    const answer = parseJson(await readAll(response));
    throw new ControlClientError(errorText(answer) ?? 'the daemon refused the stream', response.statusCode);
  }
  response.setEncoding('utf8');
  let rest = '';
  try {
    for await (const chunk of response) {
      const blocks = (rest + String(chunk)).split('\n\n');
      rest = blocks.pop() ?? '';
      if (rest.length > MAX_EVENT_SIZE) throw new ControlClientError('an event of the stream is too long');
      for (const block of blocks) deliver(block, onEvent);
    }
  } catch (error) {
    if (signal?.aborted === true) return;
    if (error instanceof ControlClientError) throw error;
    throw new ControlClientError('the daemon closed the stream', undefined, { cause: error });
  }
}

function deliver(block: string, onEvent: (event: unknown) => void): void {
  const data = block
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice(6));
  if (data.length > 0) onEvent(parseJson(data.join('\n')));
}

/**
 * Hands over an answer as octets, while it comes, until the daemon ends it. Rejects with ControlClientError.
 * @param signal ends it; the promise then resolves
 */
export async function controlBytes(
  socketPath: string,
  path: string,
  onBytes: (bytes: Uint8Array) => void,
  signal?: AbortSignal,
): Promise<void> {
  const response = await send(socketPath, { method: 'GET', path, accept: '*/*', signal });
  if (response.statusCode !== 200) {
    const answer = parseJson(await readAll(response));
    throw new ControlClientError(errorText(answer) ?? 'the daemon refused', response.statusCode);
  }
  try {
    for await (const chunk of response) onBytes(chunk as Buffer);
  } catch (error) {
    if (signal?.aborted === true) return;
    throw new ControlClientError('the daemon closed the connection', undefined, { cause: error });
  }
}

interface Sending {
  readonly method: string;
  readonly path: string;
  readonly payload?: string | undefined;
  readonly accept?: string;
  readonly timeout?: number;
  readonly signal?: AbortSignal | undefined;
}

function send(socketPath: string, sending: Sending): Promise<IncomingMessage> {
  const { method, path, payload, accept, timeout, signal } = sending;
  return new Promise((resolve, reject) => {
    const headers = {
      Host: 'localhost',
      Accept: accept ?? 'application/json',
      ...(payload === undefined
        ? {}
        : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(payload) }),
    };
    const request: ClientRequest = http.request(
      { socketPath, method, path, headers, agent: false, ...(signal === undefined ? {} : { signal }) },
      resolve,
    );
    if (timeout !== undefined) {
      request.setTimeout(timeout, () => request.destroy(new Error(`no answer within ${timeout / 1000} s`)));
    }
    request.once('error', (error) => reject(connectError(socketPath, error)));
    request.end(payload);
  });
}

function connectError(socketPath: string, error: NodeJS.ErrnoException): ControlClientError {
  const options = { cause: error };
  switch (error.code) {
    case 'ENOENT':
    case 'ECONNREFUSED':
      return new ControlClientError(
        `the daemon does not run: nothing listens on ${socketPath}`,
        undefined,
        options,
      );
    case 'EACCES':
    case 'EPERM':
      return new ControlClientError(
        `no permission for ${socketPath}: it is for the daemon's own user and root`,
        undefined,
        options,
      );
    default:
      return new ControlClientError(
        `the daemon at ${socketPath} cannot be asked: ${error.message}`,
        undefined,
        options,
      );
  }
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response) {
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
      size += bytes.length;
      if (size > MAX_ANSWER_SIZE)
        throw new ControlClientError(`the answer is larger than ${MAX_ANSWER_SIZE} octets`);
      chunks.push(bytes);
    }
  } catch (error) {
    if (error instanceof ControlClientError) throw error;
    throw new ControlClientError('the daemon closed the connection within its answer', undefined, {
      cause: error,
    });
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ControlClientError('the daemon answered with something that is not JSON', undefined, {
      cause: error,
    });
  }
}

function errorText(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || !('error' in answer)) return undefined;
  return typeof answer.error === 'string' ? answer.error : undefined;
}
