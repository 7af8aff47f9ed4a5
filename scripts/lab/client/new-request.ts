/** One request on a connection of its own, as a kubectl that was just started makes it. */

import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { RequestArguments, RequestResult } from '../client-protocol.ts';
import { readBody } from '../request-body.ts';
import { failureName } from './tally.ts';
import { masterOf } from './verified-tls.ts';

/** Asks once; never rejects. The time limit covers connecting, the handshake and the whole answer. */
export function newRequest({ target, path, timeout }: RequestArguments): Promise<RequestResult> {
  const start = performance.now();
  return new Promise((resolve) => {
    const fail = (error: unknown): void =>
      resolve({ ok: false, took: performance.now() - start, error: failureName(error) });
    try {
      const outgoing = request(
        {
          host: target.host,
          port: target.port,
          path,
          ca: readFileSync(target.caFile, 'utf8'),
          agent: false,
          signal: AbortSignal.timeout(timeout),
        },
        (answer) => {
          const status = answer.statusCode ?? 0;
          const master = answer.socket instanceof TLSSocket ? masterOf(answer.socket) : 'unknown';
          readBody(answer).then(
            () => resolve({ ok: status === 200, status, master, took: performance.now() - start }),
            fail,
          );
        },
      );
      outgoing.on('error', (error) => fail(error.cause ?? error));
      outgoing.end();
    } catch (error) {
      fail(error);
    }
  });
}
