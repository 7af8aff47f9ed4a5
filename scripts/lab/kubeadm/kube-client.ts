/** The simulated kubeadm's requests to an API server. */
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../object-store.ts';
import { readBody } from '../request-body.ts';

/** Whom to ask and how to trust it. */
export interface ApiTarget {
  readonly host: string;
  readonly port: number;
  /** The CA that must have signed the serving certificate; undefined asks without looking (discovery). */
  readonly ca: string | undefined;
  /** Milliseconds for a whole request. */
  readonly timeout: number;
  readonly client?: { readonly certificate: string; readonly key: string };
}

/** An answer with its parsed body; the text itself where it is not JSON. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: JsonObject | string;
}

/** One request. */
export function callApi(
  target: ApiTarget,
  method: string,
  path: string,
  body?: JsonObject,
): Promise<ApiAnswer> {
  const { host, port, ca, client, timeout } = target;
  const url = `https://${host}:${port}${path}`;
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void =>
      reject(new Error(`${method} "${url}": ${error.message}`, { cause: error }));
    const outgoing = request(
      {
        ...{ host, port, method, path, agent: false, signal: AbortSignal.timeout(timeout) },
        ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
        ...(client === undefined ? {} : { cert: client.certificate, key: client.key }),
        ...(body === undefined ? {} : { headers: { 'content-type': contentType(method) } }),
      },
      (answer) => {
        // Every answered call is in kubeadm's log, so that a test sees which phase asked whom.
        console.log(`  ${method} ${url} ${answer.statusCode}`);
        parseAnswer(answer).then(resolve, fail);
      },
    );
    outgoing.on('error', fail);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const contentType = (method: string): string =>
  method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';

async function parseAnswer(answer: IncomingMessage): Promise<ApiAnswer> {
  const text = await readBody(answer);
  const isJson = answer.headers['content-type']?.startsWith('application/json') === true;
  return { status: answer.statusCode ?? 0, body: isJson ? (JSON.parse(text) as JsonObject) : text };
}

/** Calls until the answer is acceptable; rejects with the last failure when the time is over. */
export async function callUntil(
  call: () => Promise<ApiAnswer>,
  isAcceptable: (answer: ApiAnswer) => boolean,
  times: { readonly timeout: number; readonly retryInterval: number },
): Promise<ApiAnswer> {
  const end = performance.now() + times.timeout;
  for (;;) {
    const last = await call().catch((error: unknown) =>
      error instanceof Error ? error : new Error(String(error)),
    );
    if (!(last instanceof Error) && isAcceptable(last)) return last;
    if (performance.now() + times.retryInterval >= end) {
      throw last instanceof Error ? last : new Error(`status ${last.status}: ${JSON.stringify(last.body)}`);
    }
    await sleep(times.retryInterval);
  }
}
