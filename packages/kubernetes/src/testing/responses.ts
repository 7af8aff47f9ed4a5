import type { IncomingMessage, ServerResponse } from 'node:http';
import { StatusError } from './object-history.ts';

/** Octets of a body. */
const LONGEST_BODY = 3 << 20;

/** @throws StatusError for a body that is too long */
export async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > LONGEST_BODY) throw new StatusError(413, 'RequestEntityTooLarge', 'the body is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export function answerJson(response: ServerResponse, code: number, value: object): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** A Status that says no. */
export function status(code: number, reason: string, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
}

export function refuse(response: ServerResponse, error: unknown): void {
  const { code, reason, message } =
    error instanceof StatusError ? error : new StatusError(500, 'InternalError', String(error));
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(status(code, reason, message)));
}
