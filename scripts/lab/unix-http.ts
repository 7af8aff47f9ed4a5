/** HTTP over a Unix socket: how the lab talks to the daemons, to the API server stand-in and to its kubelet. */

import { rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { readBody } from './request-body.ts';

/** An answer with another status than 2xx. */
export class UnixHttpError extends Error {
  readonly status: number;

  constructor(method: string, socketPath: string, path: string, status: number, body: string) {
    super(`${method} ${path} on ${socketPath}: ${status} ${body.trim().slice(0, 500)}`);
    this.name = 'UnixHttpError';
    this.status = status;
  }
}

/** Sends a request and resolves with the answer's JSON (undefined for an empty body). */
export function unixRequest(
  socketPath: string,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  timeoutMs = 5_000,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { socketPath, method, path, agent: false, signal: AbortSignal.timeout(timeoutMs) },
      (answer) => {
        readBody(answer).then((text) => {
          const status = answer.statusCode ?? 0;
          if (status < 200 || status > 299) {
            reject(new UnixHttpError(method, socketPath, path, status, text));
          } else {
            resolve(text === '' ? undefined : JSON.parse(text));
          }
        }, reject);
      },
    );
    outgoing.on('error', reject);
    if (body !== undefined) outgoing.setHeader('content-type', 'application/json');
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Answers requests on a Unix socket with what `handle` gives, as JSON; an error becomes a 500 with its message. */
export async function serveUnix(
  socketPath: string,
  handle: (method: string, path: string, body: unknown) => unknown,
): Promise<Server> {
  const server = createServer((incoming, answer) => {
    readBody(incoming)
      .then((text) =>
        handle(incoming.method ?? 'GET', incoming.url ?? '/', text === '' ? undefined : JSON.parse(text)),
      )
      .then(
        (result) => answer.end(result === undefined ? '' : JSON.stringify(result)),
        (error: unknown) => {
          answer.statusCode = 500;
          answer.end(error instanceof Error ? error.message : String(error));
        },
      );
  });
  rmSync(socketPath, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  return server;
}
