/** Reads a request's or an answer's whole body, with a bound. */
import type { Readable } from 'node:stream';

const maxBytes = 1 << 20;

/** The body as text; rejects when it is longer than 1 MiB. */
export async function readBody(message: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new RangeError(`body longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
