/** Requests of HTTP/2 on connections that are kept, as client-go makes them. */
import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { TLSSocket } from 'node:tls';
import type { RequestArguments, RequestResult } from '../client-protocol.ts';
import { readBody } from '../request-body.ts';
import { failureName } from './tally.ts';
import { masterOf } from './verified-tls.ts';

const connections = 4;

/** A few connections that the requests go through in turn, made again when they have ended or are to. */
export class KeptHttp2 {
  readonly #sessions: (ClientHttp2Session | undefined)[] = [];
  #turn = 0;

  /** Never rejects. A request that the server says it has not worked on is asked once more (RFC 9113 section 8.7). */
  async request(options: RequestArguments): Promise<RequestResult> {
    const start = performance.now();
    this.#turn = (this.#turn + 1) % connections;
    for (;;) {
      try {
        return { ...(await this.#ask(options, this.#turn)), took: performance.now() - start };
      } catch (error) {
        if (error instanceof NotWorkedOn && performance.now() - start < options.timeout) continue;
        return { ok: false, took: performance.now() - start, error: failureName(error) };
      }
    }
  }

  close(): void {
    for (const session of this.#sessions) session?.destroy();
  }

  #ask({ target, path, timeout }: RequestArguments, index: number): Promise<Omit<RequestResult, 'took'>> {
    return new Promise((resolve, reject) => {
      const session = this.#session(target, index);
      session.once('error', reject);
      const stream = session.request({ ':path': path }, { signal: AbortSignal.timeout(timeout) });
      let status = 0;
      stream.on('response', (headers) => {
        status = Number(headers[':status']);
      });
      stream.on('error', (error) => {
        reject(stream.rstCode === constants.NGHTTP2_REFUSED_STREAM ? new NotWorkedOn() : error);
      });
      stream.on('close', () => session.off('error', reject));
      readBody(stream).then(() => {
        if (status === 0) reject(new NotWorkedOn());
        resolve({ ok: status === 200, status, master: servedBy(session) });
      }, reject);
      stream.end();
    });
  }

  #session({ host, port, caFile }: RequestArguments['target'], index: number): ClientHttp2Session {
    const known = this.#sessions[index];
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    const session = connect(`https://${host}:${port}`, { ca: readFileSync(caFile, 'utf8') });
    this.#sessions[index] = session;
    session.on('error', () => undefined);
    // No more requests on it; those that are under way end.
    session.on('goaway', () => {
      if (this.#sessions[index] === session) this.#sessions[index] = undefined;
    });
    return session;
  }
}

/** The master of a session, as long as it has its socket. */
function servedBy({ socket }: ClientHttp2Session): string {
  return socket instanceof TLSSocket ? masterOf(socket) : 'unknown';
}

class NotWorkedOn extends Error {}
