/** HTTP from a host of the lab, without a program that the host would need installed. */
import { request } from 'node:http';
import type { Host } from '../../scripts/lab/host.ts';

/** What came of a request or a connection. */
export interface HttpOutcome {
  /** 0 when there was no answer. */
  readonly status: number;
  readonly body: string;
  /** `ECONNREFUSED` and such; empty when there was an answer. */
  readonly error: string;
  /** Milliseconds. */
  readonly took: number;
}

/** Options of Node's `http.request` or `https.request`, as far as they are JSON. */
export interface HttpRequest {
  readonly protocol?: 'http:' | 'https:';
  readonly host: string;
  readonly port: number;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly timeout?: number;
}

const program = `
  const options = JSON.parse(process.argv[1]);
  const { request } = await import(options.protocol === 'https:' ? 'node:https' : 'node:http');
  const start = performance.now();
  const tell = (outcome) => {
    process.stdout.write(JSON.stringify({ status: 0, body: '', error: '', ...outcome, took: performance.now() - start }));
    process.exit(0);
  };
  const outgoing = request({ ...options, agent: false, rejectUnauthorized: false }, (answer) => {
    let body = '';
    answer.setEncoding('utf8').on('data', (text) => { body += text; });
    answer.on('end', () => tell({ status: answer.statusCode, body }));
  });
  outgoing.on('timeout', () => tell({ error: 'ETIMEDOUT' }));
  outgoing.on('error', (error) => tell({ error: error.code ?? error.message }));
  outgoing.end();`;

/** One request over TCP on a host. Certificates are not verified. Never rejects for what the network does. */
export async function httpOn(host: Host, options: HttpRequest): Promise<HttpOutcome> {
  const argv = [
    process.execPath,
    '--input-type=module',
    '-e',
    program,
    JSON.stringify({ timeout: 3_000, ...options }),
  ];
  return JSON.parse(await host.exec(argv)) as HttpOutcome;
}

/** The text that a control socket answers with. */
export function textFrom(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, path, agent: false, timeout: 5_000 }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      answer.on('end', () => resolve(body));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}
