/** Large transfers by HTTPS between two namespaces of a test: a server beside an API server's certificate, and its client. */
import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:https';

/** Serves `/readyz`, takes uploads and tells how many octets came, and gives `/octets/N`. */
export async function serve(port: number, pkiFolder: string): Promise<void> {
  const [key, cert] = ['key', 'crt'].map((end) => readFileSync(`${pkiFolder}/apiserver.${end}`));
  if (key === undefined || cert === undefined) throw new Error('no certificate');
  const server = createServer({ key, cert }, (incoming, answer) => {
    let received = 0;
    incoming.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    incoming.on('end', () => {
      const size = Number(/^\/octets\/(\d+)$/.exec(incoming.url ?? '')?.[1] ?? 0);
      answer.end(size > 0 ? Buffer.alloc(size, 1) : String(received));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, () => resolve()));
}

/** One request on a new connection. @returns the octets of the answer, and its text where it is short; rejects after `timeout` ms of silence */
export function transfer(options: {
  readonly host: string;
  readonly port: number;
  readonly caFile: string;
  readonly path: string;
  /** Octets to send. */
  readonly upload: number;
  readonly timeout: number;
}): Promise<{ readonly octets: number; readonly text: string }> {
  const { host, port, caFile, path, upload, timeout } = options;
  return new Promise((resolve, reject) => {
    const call = request(
      {
        ...{ host, port, path, method: upload > 0 ? 'POST' : 'GET', agent: false },
        ...{ ca: readFileSync(caFile), servername: 'kubernetes', timeout },
      },
      (answer) => {
        let octets = 0;
        let text = '';
        answer.on('data', (chunk: Buffer) => {
          octets += chunk.length;
          if (octets < 100) text += String(chunk);
        });
        answer.on('end', () => resolve({ octets, text }));
        answer.on('error', reject);
      },
    );
    call.on('timeout', () => call.destroy(new Error(`nothing for ${timeout} ms`)));
    call.on('error', reject);
    call.end(upload > 0 ? Buffer.alloc(upload, 2) : undefined);
  });
}
