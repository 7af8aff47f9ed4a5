/** Requests of HTTP/1.1 on connections that are kept, as client-go makes them without HTTP/2. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { RequestArguments, RequestResult } from '../client-protocol.ts';
import { readBody } from '../request-body.ts';
import { failureName } from './tally.ts';
import { masterOf } from './verified-tls.ts';

const connections = 8;

/** A few connections, made again when they have ended. */
export class KeptHttp1 {
  // A TLS session that is resumed has no certificate to tell the master by.
  readonly #agent = new Agent({ keepAlive: true, maxSockets: connections, maxCachedSessions: 0 });

  /**
   * Never rejects. A GET on a kept connection that ends before a word of the answer is asked once more on another one, as
   * Go's transport does: the server had closed it when the request was on its way.
   */
  async request(options: RequestArguments): Promise<RequestResult> {
    const start = performance.now();
    for (;;) {
      try {
        return { ...(await this.#ask(options)), took: performance.now() - start };
      } catch (error) {
        if (error instanceof ClosedBefore && performance.now() - start < options.timeout) continue;
        return { ok: false, took: performance.now() - start, error: failureName(error) };
      }
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #ask({ target, path, timeout }: RequestArguments): Promise<Omit<RequestResult, 'took'>> {
    return new Promise((resolve, reject) => {
      const { host, port, caFile } = target;
      const ca = readFileSync(caFile, 'utf8');
      const signal = AbortSignal.timeout(timeout);
      const outgoing = request({ host, port, path, ca, agent: this.#agent, signal }, (answer) => {
        const status = answer.statusCode ?? 0;
        const master = answer.socket instanceof TLSSocket ? masterOf(answer.socket) : 'unknown';
        readBody(answer).then(() => resolve({ ok: status === 200, status, master }), reject);
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        const isClosed = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        reject(isClosed ? new ClosedBefore() : (error.cause ?? error));
      });
      outgoing.end();
    });
  }
}

class ClosedBefore extends Error {}
