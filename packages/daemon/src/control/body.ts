import type { IncomingMessage } from 'node:http';
import { ControlError } from './control-route.ts';

/** The largest body of a POST. */
export const MAX_BODY_SIZE: number = 64 * 1024;

/** The JSON body of a request, undefined when it is empty. Throws `ControlError` 400 or 413. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  // The connection must live on for the refusal to be sent.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    size += bytes.length;
    if (size > MAX_BODY_SIZE) throw new ControlError(413, `the body is larger than ${MAX_BODY_SIZE} octets`);
    chunks.push(bytes);
  }
  if (size === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new ControlError(400, 'the body is not JSON');
  }
}
